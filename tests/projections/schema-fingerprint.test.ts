import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { Projection } from '#projections/define-projection.ts';
import { fingerprintOf } from '#projections/schema-fingerprint.ts';

const folder = mkdtempSync(join(tmpdir(), 'fingerprint-'));
afterAll(() => rmSync(folder, { recursive: true }));

const withSchema = (text: string, rest: Partial<Projection> = {}): string => {
  const file = join(folder, 'schema.sql');
  writeFileSync(file, text);
  const schema = pathToFileURL(file);
  return fingerprintOf({
    name: 'a',
    version: 1,
    prefixes: ['a-'],
    schema,
    statements: {},
    project: () => [],
    ...rest,
  });
};

const TABLES = 'create table a (\n  -- The key.\n  id int\n);\n-- indexes\ncreate index by_id on a (id);\n';

describe('the fingerprint of a read model', () => {
  it('ignores comment lines of the schema', () => {
    expect(withSchema(TABLES.replace('The key.', 'The primary key.'))).toBe(withSchema(TABLES));
    expect(withSchema(`-- A table.\n${TABLES}`)).toBe(withSchema(TABLES));
  });

  it('changes with tables, the place of the indexes, prefixes and statements', () => {
    const statements = { count: { sql: 'select 1', columns: {}, touches: [] } };
    const others = [
      withSchema(TABLES.replace('id int', 'id bigint')),
      withSchema(TABLES.replace('-- indexes\n', '')),
      withSchema(TABLES, { prefixes: ['b-'] }),
      withSchema(TABLES, { statements }),
    ];
    expect(new Set([withSchema(TABLES), ...others]).size).toBe(others.length + 1);
  });
});
