/**
 * Places in the code that wait or queue, found by the primitives that they use. Each names its limit by a constant of the table of
 * limits, or has a sentence in `ends-otherwise.ts` about its end.
 */

export type Wait = {
  /** The primitive: the name of a call, an option or a setting of Postgres. */
  readonly by: string;
  /** Code of the limit; empty for a wait that is made by hand, whose primitive takes none. */
  readonly limit: string;
  /** The line of code in which it begins, and the next one if that line opens a bracket. */
  readonly line: string;
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
  'discoverEndpoint',
  '.drain',
  '.closed',
  '.flush',
];
const DEADLINE = /\bdeadline\b/;
const TIMEOUT = /\btimeout\b|\w+Timeout\b|\bsignal\b/;
/**
 * Calls that wait for a server or a stream, each with the option that limits it. Only calls without the option are reported. A name
 * with a dot is a method of any object.
 */
const NEEDED: Readonly<Record<string, RegExp>> = {
  fetch: /\bsignal\b/,
  finished: /\bsignal\b/,
  pipeline: /\bsignal\b/,
  '.makeUnaryRequest': DEADLINE,
  '.makeClientStreamRequest': DEADLINE,
  '.makeServerStreamRequest': DEADLINE,
  '.makeBidiStreamRequest': DEADLINE,
  '.request': TIMEOUT,
  'http.get': TIMEOUT,
  'https.get': TIMEOUT,
  'net.connect': TIMEOUT,
  'tls.connect': TIMEOUT,
  createConnection: TIMEOUT,
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

/** Texts in quotes of one line, and comments. */
const TEXT_OR_COMMENT = /(['"])(?:\\.|(?!\1)[^\\\n])*\1|\/\*[\s\S]*?\*\/|(?<=^|[\s;,{(])\/\/.*$/gm;

/** Returns the code without comments. Texts stay: they hold settings of Postgres. */
const withoutComments = (code: string): string =>
  code.replaceAll(TEXT_OR_COMMENT, (found, quote?: string) =>
    quote === undefined ? found.replaceAll(/[^\n]/g, ' ') : found,
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

/** Returns the place of the bracket that closes the one before `from`. */
const closingFrom = (code: string, from: number): number => {
  let depth = 1;
  for (let at = from; at < code.length; at += 1) {
    const sign = code[at] ?? '';
    if (OPENING.includes(sign)) depth += 1;
    else if (CLOSING.includes(sign)) depth -= 1;
    if (depth === 0) return at;
  }
  return code.length;
};

/** Returns the places behind the opening brackets of the calls of a function. Definitions and types are no calls. */
const callsOf = (code: string, name: string): readonly number[] => {
  const before = name.startsWith('.') ? '' : '(?<![\\w.]|function )';
  const call = new RegExp(`${before}${name.replaceAll('.', '\\.')}(?:<[^;=(]*>)?\\((?!\\w+\\??: )`, 'g');
  return [...code.matchAll(call)]
    .map(({ index, 0: { length } }) => index + length)
    .filter((at) => !/^\s*\{/.test(code.slice(closingFrom(code, at) + 1)));
};

/** Returns the line that holds a place of the code, and the next one if that line ends with an opening bracket. */
const lineAt = (code: string, at: number): string => {
  const [line = '', next = ''] = code.slice(code.lastIndexOf('\n', at - 1) + 1).split('\n', 2);
  return (OPENING.includes(line.at(-1) ?? ' ') ? `${line} ${next.trim()}` : line).trim();
};

/** Returns the waits and queues in the code of a file, in the order of their primitives. */
export const waitsIn = (text: string): readonly Wait[] => {
  const code = withoutComments(text);
  const waits: Wait[] = [];
  const add = (by: string, limit: string, at: number): void => {
    waits.push({ by, limit, line: lineAt(code, at - 1) });
  };
  for (const [by, place] of Object.entries(CALLS)) {
    for (const at of callsOf(code, by)) add(by, expressionsFrom(code, at)[place] ?? '', at);
  }
  for (const [by, place] of Object.entries(PAUSES)) {
    for (const at of callsOf(code, by)) {
      const limit = expressionsFrom(code, at)[place] ?? '';
      if (NUMBER.test(limit)) add(by, limit, at);
    }
  }
  for (const [by, option] of Object.entries(NEEDED)) {
    for (const at of callsOf(code, by)) if (!option.test(expressionsFrom(code, at).join())) add(by, '', at);
  }
  for (const by of MADE_BY_HAND) for (const at of callsOf(code, by)) add(by, '', at);
  for (const { 1: by = '', 0: option, index } of code.matchAll(OPTION)) {
    const at = index + option.length;
    const [limit = ''] = expressionsFrom(code, at, true);
    if (!NO_LIMIT.test(limit)) add(by, limit, at);
  }
  for (const { 1: by = '', 2: limit = '', 0: setting, index } of code.matchAll(POSTGRES_SETTING))
    add(by, limit, index + setting.length);
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

/** Sentences about the ends of waits, by file and by a part of the line in which the wait begins; one sentence for each place. */
export type Ends = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** Returns the lines without a sentence, and the parts of lines whose places are more or fewer than their sentences. */
export const unmatchedEnds = (
  waits: readonly (Wait & { readonly file: string })[],
  ends: Ends,
): readonly string[] => {
  const parts = Object.entries(ends).flatMap(([file, sentences]) =>
    Object.entries(sentences).map(([part, said]) => ({ file, part, count: [said].flat().length })),
  );
  const isAbout = (one: (typeof parts)[number], wait: (typeof waits)[number]): boolean =>
    one.file === wait.file && wait.line.includes(one.part);
  const unsaid = waits.filter((wait) => !parts.some((one) => isAbout(one, wait)));
  const wrong = parts.filter((one) => waits.filter((wait) => isAbout(one, wait)).length !== one.count);
  return [
    ...unsaid.map(({ file, by, line }) => `${file}: no sentence for ${by}: ${line}`),
    ...wrong.map(({ file, part }) => `${file}: places and sentences differ in number: ${part}`),
  ];
};
