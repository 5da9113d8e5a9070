import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Projection } from './define-projection.ts';

/** Fingerprints without this prefix covered the comments too, so they are replaced, not compared. */
export const FINGERPRINT_FORMAT = '2:';
/** The line `-- indexes` counts, because it separates tables from indexes. */
const COMMENT_LINES = /^\s*--(?! indexes$).*\n/gm;
const HASH_DIGITS = 16;

/**
 * Two fingerprints of one version reveal a change without a new version: the tables were not rebuilt. Comments do not
 * count.
 */
export const fingerprintOf = ({ schema, prefixes, statements }: Projection): string => {
  const tables = readFileSync(schema, 'utf8').replaceAll(COMMENT_LINES, '');
  const parts = Object.entries(statements).map(([name, { sql, columns }]) => [name, sql, columns]);
  const digest = hash('sha256', JSON.stringify([tables, prefixes, parts]), 'hex').slice(0, HASH_DIGITS);
  return `${FINGERPRINT_FORMAT}${digest}`;
};
