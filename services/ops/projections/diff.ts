import type { Database } from '#platform/postgres/pool.ts';
import { fingerprintOf } from '#projections/schema-fingerprint.ts';
import type { Projection } from '#projections/define-projection.ts';
import { fromProjector } from './projector-tables.ts';

export type SchemaDifference = {
  readonly name: string;
  /** Version of the tables; `null` when they do not exist. */
  readonly database_version: number | null;
  readonly code_version: number | null;
  /**
   * `newer`: the tables are newer than the code. `orphaned`: tables without code. `unversioned`: the code changed, but
   * its version was not raised.
   */
  readonly difference: 'same' | 'changed' | 'newer' | 'missing' | 'orphaned' | 'unversioned';
};

type Made = { readonly name: string; readonly version: number; readonly fingerprint: string | null };

const differenceOf = (
  made: Made | undefined,
  code: Projection | undefined,
): SchemaDifference['difference'] => {
  if (!made) return 'missing';
  if (!code) return 'orphaned';
  if (made.version !== code.version) return made.version < code.version ? 'changed' : 'newer';
  return made.fingerprint === null || made.fingerprint === fingerprintOf(code) ? 'same' : 'unversioned';
};

export const readDiff = async (
  database: Database,
  projections: readonly Projection[],
): Promise<readonly SchemaDifference[]> => {
  const { rows } = await fromProjector(() =>
    database.query<Made>('select name, version, fingerprint from projector.projection'),
  );
  const names = new Set([...projections.map(({ name }) => name), ...rows.map(({ name }) => name)]);
  return [...names].toSorted().map((name) => {
    const made = rows.find((row) => row.name === name);
    const code = projections.find((projection) => projection.name === name);
    return {
      name,
      database_version: made?.version ?? null,
      code_version: code?.version ?? null,
      difference: differenceOf(made, code),
    };
  });
};
