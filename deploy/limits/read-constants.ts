import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn, unnamedWaits, type Wait, waitsIn } from './read-waits.ts';

/**
 * Waits and queues of the services and of the local stack, as the constants of their code. A constant is a limit by its name, or
 * because a known primitive takes it (`read-waits.ts`).
 */

const ROOT = join(import.meta.dirname, '../..');
/** Words in the names of constants that limit a wait, with a unit of time at the end. */
const WAIT =
  /(BUDGET|TIMEOUT|SILENCE|SILENT|ANSWER|ANSWERED|DEADLINE|LIMIT|WAIT|PATIENT|CONNECT|LEASE|FLUSH|KEEP_?ALIVE|PULL|STALLED(?=_MS)|READY|STOP(?=_))[A-Z_]*_(MS|SECONDS|MINUTES)$/;
/** Words in the names of constants that limit what waits, or is worked on, at the same time. */
const QUEUE =
  /(WAITING|IN_FLIGHT|QUEUED|BUFFER|BUFFERED|AT_ONCE|FETCHED|ACK_PENDING|CONCURRENT|CONCURRENCY|SLOTS|FOLLOWERS|CLIENTS|SEARCHES|EXPORTS|UNSENT|(?:CALLS|STREAMS)_PER_CONNECTION|CONNECTIONS_PER_HOST|^(?:LOCKS|READS|LOAD|HELD|CALLS|BACKLOG|CONNECTIONS)_MAX$)/;
/** Words in the names of constants that limit how many requests or replies may follow each other, or run for one workspace. */
const RATE = /(PER_MINUTE|PER_TURN|PER_WORKSPACE_MAX|INTERIM_MAX)$/;
/** Values that depend on the machine. They are shown as they are written. */
const OF_MACHINE = /availableParallelism\(\)/;
/** Words in the names of intervals, margins and sizes of parts, which limit no wait. */
const OTHER =
  /(TIMEOUT_CHECK|STEP|EVERY|SOON|RECONNECT|_PART$|WINDOWS|MARGIN|EXTENSION|PASSED|ROWS_AT_ONCE|PAGE)/;
/** A mutex has no constant: one piece of work runs, and the others wait behind it. Its name is that of its variable. */
const MUTEX = /(?:\bconst (\w+) = )?\bcreateKeyedMutex\(\)/g;
const ONE = 'one at a time';
const UNITS_MS: Readonly<Record<string, number>> = {
  SECOND_MS: 1_000,
  MINUTE_MS: 60_000,
  HOUR_MS: 3_600_000,
  DAY_MS: 86_400_000,
};
const CONSTANT = /^(?:export )?const ([A-Z][A-Z0-9_]*)(?:: [^=\n]+)? =\s+([^;]+);/gm;

export type Limit = {
  /** Path of the file, within `services/` when it begins with no other folder. */
  readonly file: string;
  readonly name: string;
  /** The value: a number, or the text of an object. */
  readonly value: number | string;
};

/** Returns the value of products, quotients, sums and differences of numbers and known names; `null` for other code. */
const valueOf = (code: string, known: ReadonlyMap<string, number>): number | null => {
  const tokens = code.match(/[A-Z][A-Z0-9_]*|[\d_.]+(?:e\d+)?|\*\*|[-+*/]/g) ?? [];
  if (tokens.join('') !== code.replaceAll(/\s/g, '')) return null;
  const numbers = tokens.map((token) => {
    if (/^[-+*/]/.test(token)) return token;
    return /^[\d.]/.test(token) ? Number(token.replaceAll('_', '')) : (known.get(token) ?? Number.NaN);
  });
  const products: number[] = [];
  for (let at = 0; at < numbers.length; at += 1) {
    const token = numbers[at];
    if (typeof token === 'number') products.push(token);
    else {
      const next = numbers[(at += 1)];
      const last = products.pop();
      if (typeof next !== 'number' || last === undefined) return null;
      if (token === '**') products.push(last ** next);
      else if (token === '*') products.push(last * next);
      else if (token === '/') products.push(last / next);
      else products.push(last, token === '-' ? -next : next);
    }
  }
  const sum = products.reduce((total, one) => total + one, 0);
  return Number.isFinite(sum) ? sum : null;
};

/** Returns the waits and queues of a file. Mutexes have the names of their variables. */
export const limitsIn = (file: string, text: string): readonly Limit[] => {
  const used = new Set(waitsIn(text).flatMap(namesIn));
  const known = new Map(Object.entries(UNITS_MS));
  const limits: Limit[] = [];
  for (const { 1: name = '', 2: code = '' } of text.matchAll(CONSTANT)) {
    const value = valueOf(code, known);
    if (value !== null) known.set(name, value);
    const isNamed = !OTHER.test(name) && [WAIT, QUEUE, RATE].some((words) => words.test(name));
    if (!isNamed && !used.has(name)) continue;
    if (OF_MACHINE.test(code)) {
      limits.push({ file, name, value: `\`${code.replaceAll(/\s+/g, ' ')}\`` });
      continue;
    }
    const isObject = code.startsWith('{');
    if (value === null && !isObject) continue;
    const shown = value ?? code.replace(' as const', '').replaceAll(/\s+/g, ' ');
    limits.push({ file, name, value: shown });
  }
  for (const { 1: name = 'createKeyedMutex' } of text.matchAll(MUTEX))
    limits.push({ file, name, value: ONE });
  return limits;
};

/** Folders of the code of processes. Read models have no waits of their own today, and the reader finds one that gets some. */
const FOLDERS = ['services', 'projections', 'deploy/local'];
/** Decisions are pure: they wait for nothing. Their numbers are rules. */
const PURE = 'services/domain/';

type Source = { readonly file: string; readonly text: string };

const filesOf = async (folder: string): Promise<readonly string[]> => {
  const files: string[] = [];
  for await (const file of glob(`${folder}/**/*.ts`, { cwd: ROOT })) files.push(file);
  return files.filter((file) => !file.startsWith(PURE)).toSorted();
};

const readSources = async (): Promise<readonly Source[]> => {
  const files = (await Promise.all(FOLDERS.map(filesOf))).flat();
  const read = async (file: string): Promise<Source> => ({
    file: file.replace(/^services\//, ''),
    text: await readFile(join(ROOT, file), 'utf8'),
  });
  return await Promise.all(files.map(read));
};

/** Returns the waits and queues of all code, in the order of their files. */
export const readLimits = async (): Promise<readonly Limit[]> =>
  (await readSources()).flatMap(({ file, text }) => limitsIn(file, text));

/** Returns the waits and queues of all code that name no constant of `readLimits` as their limit. */
export const readUnnamedWaits = async (): Promise<readonly (Wait & { readonly file: string })[]> => {
  const sources = await readSources();
  const names = new Set(sources.flatMap(({ file, text }) => limitsIn(file, text).map(({ name }) => name)));
  return sources.flatMap(({ file, text }) =>
    unnamedWaits(waitsIn(text), names).map((wait) => ({ file, ...wait })),
  );
};
