import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AT_LIMIT } from './limits/at-limit.ts';
import { type Limit, readLimits } from './limits/read-constants.ts';

/**
 * `npm run limits` writes the table of all waits and queues into `deploy/OPERATIONS.md`, from the constants of the code. With
 * `--check` it fails when the table is outdated, when a wait or queue is not described, or when one is gone.
 */

const FILE = join(import.meta.dirname, 'OPERATIONS.md');
const BEGIN = '<!-- limits: written by npm run limits -->';
const END = '<!-- limits: end -->';
const UNITS: readonly (readonly [suffix: string, inMs: number])[] = [
  ['_MS', 1],
  ['_SECONDS', 1_000],
  ['_MINUTES', 60_000],
];
const TIMES: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];
const BYTES: readonly (readonly [name: string, bytes: number])[] = [
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
];

const inUnit = (value: number, units: readonly (readonly [string, number])[], smallest: string): string => {
  const [name, size] = units.find(([, one]) => value >= one) ?? [smallest, 1];
  return `${Number((value / size).toFixed(1)).toLocaleString('en')} ${name}`;
};

/** Returns the value with its unit, which the name of the constant ends with. */
const shownValue = ({ name, value }: Limit): string => {
  if (typeof value === 'string') {
    return value
      .replaceAll(/[{}]/g, '')
      .replaceAll('MINUTE_MS', '1 min')
      .replaceAll(/(\d+) \* 1 min/g, '$1 min')
      .trim();
  }
  if (/BYTES/.test(name)) return inUnit(value, BYTES, 'bytes');
  const unit = UNITS.find(([suffix]) => name.endsWith(suffix));
  return unit === undefined ? value.toLocaleString('en') : inUnit(value * unit[1], TIMES, 'ms');
};

const descriptionOf = ({ file, name }: Limit): readonly [string, string] | undefined =>
  AT_LIMIT[file]?.[name];

/** Throws for a wait or queue that is not described, and for a description of one that is gone. */
const requireDescribed = (limits: readonly Limit[]): void => {
  const missing = limits
    .filter((limit) => descriptionOf(limit) === undefined)
    .map(({ file, name }) => `${file} ${name}`);
  const found = new Set(limits.map(({ file, name }) => `${file} ${name}`));
  const gone = Object.entries(AT_LIMIT)
    .flatMap(([file, names]) => Object.keys(names).map((name) => `${file} ${name}`))
    .filter((key) => !found.has(key));
  if (missing.length + gone.length === 0) return;
  throw new Error(
    `Say in deploy/limits/at-limit.ts what happens at: ${missing.join(', ') || 'none'}. Remove: ${gone.join(', ') || 'none'}.`,
  );
};

const tableOf = (limits: readonly Limit[]): string =>
  [
    '| part | what | limit | then |',
    '|---|---|---|---|',
    ...limits.map((limit) => {
      const [what = '', then = ''] = descriptionOf(limit) ?? [];
      return `| \`${limit.file}\` | ${what} | ${shownValue(limit)} | ${then} |`;
    }),
  ].join('\n');

const limits = await readLimits();
requireDescribed(limits);
const present = await readFile(FILE, 'utf8');
const [before, rest] = present.split(BEGIN);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined)
  throw new Error(`${FILE} has no place for the table: ${BEGIN} … ${END}`);
const written = `${before}${BEGIN}\n\n${tableOf(limits)}\n\n${END}${after}`;
if (process.argv.includes('--check')) {
  if (written !== present) throw new Error('deploy/OPERATIONS.md is outdated; run `npm run limits`.');
} else await writeFile(FILE, written);
