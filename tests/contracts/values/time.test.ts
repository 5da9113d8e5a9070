import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import {
  DAY_MS,
  isoTimeMicrosSql,
  isoTimeSql,
  utcDate,
  utcDateOfMs,
  WEEK_MS,
} from '#contracts/values/time.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

test('a UTC date is the same from a timestamp, from a date and from milliseconds', () => {
  expect(utcDate('2026-03-01T23:59:59.999Z')).toBe('2026-03-01');
  expect(utcDate('2026-03-01')).toBe('2026-03-01');
  expect(utcDateOfMs(Date.parse('2026-03-01T23:59:59.999Z'))).toBe('2026-03-01');
  expect(utcDateOfMs(Date.parse('2026-03-01') + WEEK_MS - DAY_MS)).toBe('2026-03-07');
});

test('times in JSON have milliseconds, and times in cursors microseconds', () => {
  expect(isoTimeSql('a.at')).toBe(`to_char(a.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
  expect(isoTimeMicrosSql('a.at')).toBe(`to_char(a.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`);
});

test('no other source file spells the SQL format of a time', () => {
  const files = globSync('{contracts,projections,services}/**/*.ts', { cwd: ROOT });
  const spelled = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').includes('HH24:MI:SS'));
  expect(spelled).toEqual(['contracts/values/time.ts']);
});
