import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const schemas = globSync(['projections/**/schema.sql', 'services/**/schema.sql'], { cwd: ROOT });

/** Social pages have a text id, landing pages a UUID: one name would hide which page is meant. */
test('columns name the kind of page whose id they hold', () => {
  expect(schemas).toEqual(
    expect.arrayContaining(['services/ingest/schema.sql', 'services/alerts/schema.sql']),
  );
  const ambiguous = schemas.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .filter((line) => /\b(?:card_)?page_ids?\b/.test(line) && !/^\s*--/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(ambiguous).toEqual([]);
});
