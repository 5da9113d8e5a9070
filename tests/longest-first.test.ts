import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LONGEST } from './longest-first.ts';

const files = globSync('tests/**/*.test.ts', { cwd: join(import.meta.dirname, '..') });

test('each name of a long test belongs to one file', () => {
  const found = LONGEST.map((part) => files.filter((file) => file.startsWith(`tests/${part}`)).length);
  expect(Object.fromEntries(LONGEST.map((part, index) => [part, found[index]]))).toEqual(
    Object.fromEntries(LONGEST.map((part) => [part, 1])),
  );
});
