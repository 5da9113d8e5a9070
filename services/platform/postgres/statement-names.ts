import { createHash } from 'node:crypto';

/** Above this number, statements run unnamed. */
const STATEMENT_NAMES_MAX = 2_000;

export type NamedStatement = { readonly text: string; readonly name?: string };

/** A name lets a connection parse and plan a statement once. `textOf` converts each distinct text once. */
export const statementNames = (textOf: (sql: string) => string = (sql) => sql) => {
  const statements = new Map<string, NamedStatement>();
  return (sql: string): NamedStatement => {
    const existing = statements.get(sql);
    if (existing !== undefined) return existing;
    const text = textOf(sql);
    if (statements.size >= STATEMENT_NAMES_MAX) return { text };
    const statement = { text, name: createHash('sha256').update(text).digest('base64url').slice(0, 24) };
    statements.set(sql, statement);
    return statement;
  };
};
