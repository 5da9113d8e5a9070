import { Command } from 'commander';
import { afterEach, expect, test, vi } from 'vitest';
import { printRecord, printTable } from '#services/ops/cli/output.ts';
import { placeFault, serverFault } from '#services/ops/cli/describe-error.ts';

/** What others wrote, shown on an operator's terminal. */
afterEach(() => vi.restoreAllMocks());

const printed = (print: () => void): string[] => {
  const lines: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  print();
  return lines;
};

test('a table stays one, and no text is obeyed by the terminal', () => {
  const error = 'no such column\n\tat row 7 \u001b[2Jgone \u202egnp.exe';
  const rows = [
    { name: 'radar', error },
    { name: 'ads', error: null },
  ];
  expect(printed(() => printTable(new Command(), ['name', 'error'], rows))).toEqual([
    'name   error',
    'radar  no such column at row 7  [2Jgone  gnp.exe',
    'ads',
  ]);
  expect(printed(() => printRecord(new Command(), { name: 'Zoë 👩‍🚀\r' }))).toEqual(['name  Zoë 👩‍🚀 ']);
});

test('faults are said by what is to be done about them', () => {
  const fault = (message: string, more: object = {}) => Object.assign(new Error(message), more);
  const told = (error: unknown) => serverFault(error) ?? placeFault(error);
  expect(told(fault('self-signed certificate', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }))).toBe(
    'Postgres does not answer: self-signed certificate. DATABASE_URL says where it is.',
  );
  expect(told(fault('Connection terminated unexpectedly'))).toMatch(/^Postgres does not answer/);
  expect(told(fault('canceling statement due to statement timeout', { code: '57014' }))).toMatch(
    /^Postgres took longer/,
  );
  expect(told(fault('relation "workspaces.workspace" does not exist', { code: '42P01' }))).toBe(
    'This database has not what that needs: relation "workspaces.workspace" does not exist. Start the service on it, the projector first.',
  );
  expect(told(fault('permission denied for table parked', { code: '42501' }))).toMatch(
    /^The role of DATABASE_URL may not/,
  );
  expect(told(fault('cannot execute CREATE SCHEMA in a read-only transaction', { code: '25006' }))).toMatch(
    /^The role of DATABASE_URL may not/,
  );
  expect(told(fault('ENOTDIR: not a directory', { code: 'ENOTDIR', path: 'out' }))).toBe(
    'ENOTDIR: not a directory.',
  );
  expect(told(fault('x is not a function'))).toBeNull();
  expect(told(undefined)).toBeNull();
});
