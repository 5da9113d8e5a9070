import { Command } from 'commander';
import { afterEach, expect, test, vi } from 'vitest';
import {
  describeCommandError,
  describeServerError,
  printRecord,
  printTable,
} from '#platform/command-line.ts';
import { createProgressBars } from '#services/ops/cli/commands/projections.ts';

afterEach(() => vi.restoreAllMocks());

const printed = (print: () => void): string[] => {
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  print();
  return lines;
};

test('escapes line breaks and escape sequences in tables and records', () => {
  const error = 'no such column\n\tat row 7 \u001b[2Jgone \u202egnp.exe';
  const rows = [
    { name: 'radar', error },
    { name: 'ads', error: null },
  ];
  expect(printed(() => printTable(new Command(), ['name', 'error'], rows))).toEqual([
    'name   error',
    'radar  no such column\\n\\tat row 7 \\u001b[2Jgone \\u202egnp.exe',
    'ads',
  ]);
  expect(printed(() => printRecord(new Command(), { name: 'Zoë 👩‍🚀\r' }))).toEqual(['name  Zoë 👩‍🚀\\r']);
});

test('describes errors that operators can resolve, and no others', () => {
  const fault = (message: string, more: object = {}) => Object.assign(new Error(message), more);
  const described = (error: unknown) => describeServerError(error) ?? describeCommandError(error);
  expect(described(fault('self-signed certificate', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }))).toBe(
    'Postgres does not respond: self-signed certificate. Check DATABASE_URL.',
  );
  expect(described(fault('Connection terminated unexpectedly'))).toMatch(/^Postgres does not respond/);
  expect(described(fault('timeout exceeded when trying to connect'))).toMatch(/^Postgres does not respond/);
  for (const more of [{ code: 16 }, { code: 7, type: 'unknown' }, { type: 'access-denied' }]) {
    expect(described(fault('Access Denied', more))).toBe(
      'The event store refuses the user (Access Denied): check user and password in EVENT_STORE_URL, and the rights of that user.',
    );
  }
  expect(described(fault('canceling statement due to statement timeout', { code: '57014' }))).toMatch(
    /^The Postgres query timed out/,
  );
  expect(described(fault('relation "workspaces.workspace" does not exist', { code: '42P01' }))).toBe(
    'The database is missing a table this command needs: relation "workspaces.workspace" does not exist. Start the service against it first, beginning with the projector.',
  );
  expect(described(fault('permission denied for table parked', { code: '42501' }))).toMatch(
    /^The role in DATABASE_URL lacks the required privileges: /,
  );
  expect(
    described(fault('cannot execute CREATE SCHEMA in a read-only transaction', { code: '25006' })),
  ).toMatch(/^The role in DATABASE_URL lacks the required privileges: /);
  expect(described(fault('ENOTDIR: not a directory', { code: 'ENOTDIR', path: 'out' }))).toBe(
    'ENOTDIR: not a directory.',
  );
  expect(described(fault('x is not a function'))).toBeNull();
  expect(described(undefined)).toBeNull();
});

test('shows the progress of several projections in all, with rate and time left', () => {
  vi.useFakeTimers();
  try {
    let written = '';
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((written += String(text)), true));
    const progress = createProgressBars(2);
    progress.show('ads', 0, 100, 'reading', 0, null);
    progress.show('radar', 20, 140, 'reading', 0, null);
    vi.advanceTimersByTime(2_000);
    progress.show('ads', 40, 100, 'reading', 20, 3);
    progress.end();
    expect(written).toMatch(/ads +\S+ 40 of 100 events, 20\/s, 3 s left, reading/);
    expect(written).toMatch(/all +\S+ 60 of 240 events, 20\/s, 9 s left, 2 projections/);
  } finally {
    vi.useRealTimers();
  }
});
