import type { QueryConfig } from 'pg';
import type { Database } from './pool.ts';

type Waiting = {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly answer: PromiseWithResolvers<{ readonly rows: readonly unknown[] }>;
};

/** `select` of one column for each statement, whose rows are a list of JSON objects. */
const combined = (waiting: readonly Waiting[]): { readonly text: string; readonly values: unknown[] } => {
  const values: unknown[] = [];
  const columns = waiting.map((statement, index) => {
    const before = values.length;
    values.push(...statement.values);
    const text = statement.text.replaceAll(/\$(\d+)/g, (_, place) => `$${Number(place) + before}`);
    return `(select coalesce(json_agg(r), '[]') from (${text}\n) r) as "${index}"`;
  });
  return { text: `select ${columns.join(',\n')}`, values };
};

const send = async (database: Database, waiting: readonly Waiting[]): Promise<void> => {
  const { text, values } = combined(waiting);
  const { rows } = await database.query<Record<string, readonly unknown[]>>(text, values);
  for (const [index, { answer }] of waiting.entries()) answer.resolve({ rows: rows[0]?.[index] ?? [] });
};

/**
 * A view of the database whose `query` sends the reads that are asked for at once as one statement, because a transaction and
 * a round trip cost more than a small read. The reads see one snapshot. Not for writes, `bytea`, times, or integers above
 * 2^53: rows come as JSON.
 */
export const readsTogether = (database: Database): Database => {
  let waiting: Waiting[] = [];
  const flush = (): void => {
    const sent = waiting;
    waiting = [];
    send(database, sent).catch((error: unknown) => {
      for (const { answer } of sent) answer.reject(error);
    });
  };
  const query = (statement: string | QueryConfig, values: readonly unknown[] = []) => {
    if (waiting.length === 0) queueMicrotask(flush);
    const answer: Waiting['answer'] = Promise.withResolvers();
    const read = typeof statement === 'string' ? { text: statement, values } : statement;
    waiting.push({ text: read.text, values: read.values ?? [], answer });
    return answer.promise;
  };
  return Object.create(database, { query: { value: query } }) as Database;
};
