import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { BASE_URL_MARK, BASE_URL_SQL } from '#contracts/values/base-url.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DEFINITION = 'contracts/values/base-url.ts';
const SPELLINGS = [/\\u0001/i, /\\u\{0*1\}/i, /\\x01/i, /\bchr\(\s*1\s*\)/i, new RegExp(BASE_URL_MARK)];

const filesWithMark = globSync(['{contracts,projections,services,deploy}/**/*.{ts,sql}'], {
  cwd: ROOT,
}).filter((file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return SPELLINGS.some((spelling) => spelling.test(text));
});

test('only its definition spells the mark of the base URL', () => {
  expect(filesWithMark).toEqual([DEFINITION]);
});

test('the SQL of the mark is the mark', () => {
  expect(BASE_URL_SQL).toBe(`chr(${BASE_URL_MARK.codePointAt(0)})`);
});
