/**
 * Places in the code that wait or queue, found by the primitives that they use. Each names its limit by a constant of the table of
 * limits, or has a sentence in `ends-otherwise.ts` about its end.
 */

export type Wait = {
  /** The primitive: the name of a call, an option or a setting of Postgres. */
  readonly by: string;
  /** Code of the limit; empty for a wait that is made by hand, whose primitive takes none. */
  readonly limit: string;
};

/** Calls that take a limit, each with the place of the argument. */
const CALLS: Readonly<Record<string, number>> = {
  createSemaphore: 0,
  createKeyedQueue: 0,
  createConcurrencyLimit: 0,
  openPool: 1,
  openPreparingPool: 1,
  'AbortSignal.timeout': 0,
};
/** Calls that end by themselves. Only a limit without a name is reported. */
const PAUSES: Readonly<Record<string, number>> = { pause: 0, setTimeout: 1 };
/** Calls that end only when other code ends them. */
const MADE_BY_HAND = [
  'new Promise',
  'Promise.withResolvers',
  'once',
  'createWakeSignal',
  'createPromiseQueue',
];
/** Calls that wait for a server, each with the option that limits it. Only calls without the option are reported. */
const NEEDED: Readonly<Record<string, RegExp>> = {
  fetch: /\bsignal\b/,
  'new Pool': /\bconnectionTimeoutMillis\b/,
  'new pg.Pool': /\bconnectionTimeoutMillis\b/,
  'new pg.Client': /\bconnectionTimeoutMillis\b/,
};
/** Options of Postgres, HTTP, gRPC, NATS, SMTP and telemetry that limit a wait or a queue. */
const OPTION =
  /(?<![\w.])(timeout|deadline|expires|max_messages|max_ack_pending|ack_wait|\w+_timeout|(?:query|connection|idle|socket|greeting|request|headers|body|keepAlive|connect|export|lock|statement)Timeout(?:Millis)?|timeoutMillis)\s*:\s*/g;
/** Settings in the text of statements and of connection options. */
const POSTGRES_SETTING =
  /\b((?:lock|statement|transaction|idle_session|idle_in_transaction_session)_timeout)\s*=\s*(\$\{[^}]*\}|\d+)/g;

const OPENING = '([{';
const CLOSING = ')]}';
/** A type, a date or the text of an error: no limit, though its name is that of an option. */
const NO_LIMIT = /^(?:number|new Date|Date|string|bigint)\b|^['"`]/;
const NUMBER = /^[\d_.]+(?:\s*\*\s*[\d_.]+)*$/;

/** Returns the code without comments. Texts stay: they hold settings of Postgres. */
const withoutComments = (code: string): string =>
  code.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|[\s;,{(])\/\/.*$/gm, (comment) =>
    comment.replaceAll(/[^\n]/g, ' '),
  );

/** Returns the comma-separated expressions from a place to the bracket that closes them, or to the end of one if `one`. */
const expressionsFrom = (code: string, from: number, one = false): readonly string[] => {
  const found: string[] = [];
  let depth = 0;
  let start = from;
  for (let at = from; at < code.length; at += 1) {
    const sign = code[at] ?? '';
    const isEnd = depth === 0 && (CLOSING.includes(sign) || (one && (sign === ',' || sign === ';')));
    if (isEnd || (depth === 0 && sign === ',')) {
      found.push(code.slice(start, at).trim());
      start = at + 1;
    }
    if (isEnd) return found;
    if (OPENING.includes(sign)) depth += 1;
    else if (CLOSING.includes(sign)) depth -= 1;
  }
  return found;
};

/** Returns the places behind the opening brackets of the calls of a function. Definitions and types are no calls. */
const callsOf = (code: string, name: string): readonly number[] => {
  const call = new RegExp(
    `(?<![\\w.]|function )${name.replace('.', '\\.')}(?:<[^;=(]*>)?\\((?!\\w+\\??: )`,
    'g',
  );
  return [...code.matchAll(call)].map(({ index, 0: { length } }) => index + length);
};

/** Returns the waits and queues in the code of a file, in the order of their primitives. */
export const waitsIn = (text: string): readonly Wait[] => {
  const code = withoutComments(text);
  const waits: Wait[] = [];
  for (const [by, place] of Object.entries(CALLS)) {
    for (const at of callsOf(code, by)) waits.push({ by, limit: expressionsFrom(code, at)[place] ?? '' });
  }
  for (const [by, place] of Object.entries(PAUSES)) {
    for (const at of callsOf(code, by)) {
      const limit = expressionsFrom(code, at)[place] ?? '';
      if (NUMBER.test(limit)) waits.push({ by, limit });
    }
  }
  for (const [by, option] of Object.entries(NEEDED)) {
    for (const at of callsOf(code, by))
      if (!option.test(expressionsFrom(code, at).join())) waits.push({ by, limit: '' });
  }
  for (const by of MADE_BY_HAND) for (const _ of callsOf(code, by)) waits.push({ by, limit: '' });
  for (const { 1: by = '', 0: option, index } of code.matchAll(OPTION)) {
    const [limit = ''] = expressionsFrom(code, index + option.length, true);
    if (!NO_LIMIT.test(limit)) waits.push({ by, limit });
  }
  for (const { 1: by = '', 2: limit = '' } of code.matchAll(POSTGRES_SETTING)) waits.push({ by, limit });
  return waits;
};

/** Returns the names of constants in the code of a limit, without those of units. */
export const namesIn = ({ limit }: Wait): readonly string[] =>
  (limit.match(/\b[A-Z][A-Z0-9_]+\b/g) ?? []).filter((name) => !name.includes('_PER_MS'));

/** One connection: its callers wait one after the other, as behind a mutex. */
const isSingle = ({ by, limit }: Wait): boolean => by === 'openPool' && limit === '1';

/** Returns the waits and queues whose limit is none of the named ones. */
export const unnamedWaits = (waits: readonly Wait[], names: ReadonlySet<string>): readonly Wait[] =>
  waits.filter((wait) => !isSingle(wait) && !namesIn(wait).some((name) => names.has(name)));
