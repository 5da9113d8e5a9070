import { createSqlTag, FragmentToken } from '@slonik/sql-tag';
import type { FragmentSqlToken, ListSqlToken } from 'slonik';
import type { ReadQuery } from '#contracts/ports/read-database.ts';

/**
 * Composes statements of parts. A fragment becomes text, every other value a parameter. It comes without slonik's pool,
 * whose import takes a quarter of a process's start.
 */
export const sql = createSqlTag();

/** Part of a statement, with the values of its parameters. */
export type Fragment = FragmentSqlToken | ListSqlToken;

/** SQL written in this repository as a fragment, such as columns; never a value. */
export const raw = (text: string): Fragment => ({ sql: text, type: FragmentToken, values: [] });

/** Arguments of a query of `pg`, which knows `$1` instead of `$slonik_1`. A read database takes both. */
export const textAndValues = ({ sql: text, values }: ReadQuery): [text: string, values: unknown[]] => [
  text.replaceAll('$slonik_', '$'),
  [...values],
];
