import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Projection } from './define-projection.ts';

/**
 * Of a projection's schema and statements. Two of one version with different fingerprints: somebody changed it and
 * forgot to raise the version, so that its tables were not built anew.
 */
export const fingerprintOf = ({ schema, prefixes, statements }: Projection): string => {
  const parts = Object.entries(statements).map(([name, { sql, columns }]) => [name, sql, columns]);
  return hash('sha256', JSON.stringify([readFileSync(schema, 'utf8'), prefixes, parts]), 'hex').slice(0, 16);
};
