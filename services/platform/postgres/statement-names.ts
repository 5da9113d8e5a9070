import { createHash } from 'node:crypto';

/** Distinct statement texts remembered; beyond it statements run unnamed. */
const STATEMENT_NAMES_MAX = 2_000;

export type NamedStatement = { readonly text: string; readonly name?: string };

/** Names statements by their text, so that a connection parses and plans each once. `textOf` is asked once a text. */
export const statementNames = (textOf: (sql: string) => string = (sql) => sql) => {
  const statements = new Map<string, NamedStatement>();
  return (sql: string): NamedStatement => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const text = textOf(sql);
    if (statements.size >= STATEMENT_NAMES_MAX) return { text };
    const statement = { text, name: createHash('sha256').update(text).digest('base64url').slice(0, 24) };
    statements.set(sql, statement);
    return statement;
  };
};
