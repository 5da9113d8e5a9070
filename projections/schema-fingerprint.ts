import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Projection } from './define-projection.ts';

/**
 * Prefix of fingerprints of the current format. Those without it also covered the comments of `schema.sql` and
 * cannot be compared, so the owner of a projection replaces them.
 */
export const FINGERPRINT_FORMAT = '2:';
/** Comment lines of `schema.sql`, except the line that separates tables from indexes. */
const COMMENT_LINES = /^\s*--(?! indexes$).*\n/gm;
const HASH_DIGITS = 16;

/**
 * Returns the fingerprint of a projection's schema, prefixes and statements. Two different fingerprints of one
 * version reveal a change without a new version: the tables were not rebuilt. Comments do not count.
 */
export const fingerprintOf = ({ schema, prefixes, statements }: Projection): string => {
  const tables = readFileSync(schema, 'utf8').replaceAll(COMMENT_LINES, '');
  const parts = Object.entries(statements).map(([name, { sql, columns }]) => [name, sql, columns]);
  const digest = hash('sha256', JSON.stringify([tables, prefixes, parts]), 'hex').slice(0, HASH_DIGITS);
  return `${FINGERPRINT_FORMAT}${digest}`;
};
