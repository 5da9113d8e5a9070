import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';

test('no two advisory locks have the same id', () => {
  const ids = Object.values(ADVISORY_LOCKS);
  expect(ids.filter((id, place) => ids.indexOf(id) !== place)).toEqual([]);
});

test('no service takes a lock of a session, which a pooler or a failover would lose without a word', () => {
  const root = join(import.meta.dirname, '../..');
  const files = globSync('{services,projections}/**/*.{ts,sql}', { cwd: root });
  const takes = (file: string): boolean =>
    /pg_(try_)?advisory_(lock|unlock)/.test(readFileSync(join(root, file), 'utf8'));
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter(takes)).toEqual([]);
});
