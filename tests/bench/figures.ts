/** `npm run bench` fails for a figure that a bench did not measure. */

export type Unit =
  | '/s'
  | 's'
  | 'ms'
  | 'µs'
  | 'MiB'
  | 'lines'
  | 'files'
  | 'settings'
  | 'requests'
  | 'bytes'
  | 'transactions';

/** `of`: measured value, or its ratio to the ceiling. */
export type Target = { readonly of: 'measured' | 'ratio'; readonly min?: number; readonly max?: number };

export interface Figure {
  readonly unit: Unit;
  readonly ceiling?: string;
  readonly target?: Target;
}

const ratioMin = (min: number): Target => ({ of: 'ratio', min });
const ratioMax = (max: number): Target => ({ of: 'ratio', max });
const max = (limit: number): Target => ({ of: 'measured', max: limit });

const NO_WORK = 'server that does no work';
const FASTIFY = 'Fastify and pg';
const BARE_APPEND = 'bare append';
const SMALLEST = 'smallest observation';

/** Benches in the order in which they run. `*` in a name stands for any text. */
export const FIGURES = {
  repository: {
    'lines of services, projections, contracts and deploy': { unit: 'lines', target: max(90_000) },
    'lines of tests': { unit: 'lines', target: max(88_000) },
    'files with one importer': { unit: 'files', target: max(150) },
    settings: { unit: 'settings', target: max(60) },
    'first start': { unit: 's', target: max(40) },
    'second start': { unit: 's', target: max(6) },
  },
  'event-store': {
    'append 1, 64 writers': { unit: '/s', ceiling: NO_WORK, target: ratioMin(0.6) },
    'append 500 a call, 4 in flight': { unit: '/s', ceiling: NO_WORK, target: ratioMin(0.6) },
    'readAll forwards': { unit: '/s', ceiling: NO_WORK, target: ratioMin(0.85) },
    'live p50': { unit: 'ms', target: max(0.6) },
    'live p99': { unit: 'ms', target: max(5) },
  },
  api: {
    'one brand': { unit: '/s', ceiling: FASTIFY, target: ratioMin(2) },
    'one brand, CPU of the API': { unit: 'µs', ceiling: FASTIFY, target: max(60) },
    'one brand, CPU of *': { unit: 'µs' },
    'page of 20 brands': { unit: '/s', ceiling: FASTIFY, target: ratioMin(6) },
    'pages of 20, in rotation': { unit: '/s', ceiling: FASTIFY, target: ratioMin(3) },
    'list of keys': { unit: '/s', ceiling: FASTIFY, target: ratioMin(4) },
    'pages of keys, in rotation': { unit: '/s', ceiling: FASTIFY, target: ratioMin(1) },
    'list of tracked brands': { unit: '/s', ceiling: FASTIFY, target: ratioMin(4) },
    'pages of tracked brands, in rotation': { unit: '/s', ceiling: FASTIFY, target: ratioMin(1) },
    '404s': { unit: '/s', ceiling: 'one brand of the API', target: ratioMin(1) },
    'radar page, alone': { unit: 'ms', ceiling: 'select 1', target: ratioMax(12) },
    'radar page, under load': { unit: 'ms', ceiling: 'select 1', target: ratioMax(12) },
  },
  reads: {
    'pages, at most one filter, p99': { unit: 'ms', target: max(25) },
    'pages, at most one filter, p99 of CPU': { unit: 'ms', target: max(25) },
    'pages, two filters, p99': { unit: 'ms', target: max(60) },
    'pages, two filters, p99 of CPU': { unit: 'ms', target: max(60) },
    'unpaginated responses, p99': { unit: 'ms' },
    'unpaginated responses, p99 of CPU': { unit: 'ms' },
  },
  'past-reads': {
    'brand, p99': { unit: 'ms', target: max(250) },
    'daily activity, p99': { unit: 'ms', target: max(250) },
    'velocity, p99': { unit: 'ms', target: max(250) },
    'ads, p99': { unit: 'ms', target: max(250) },
  },
  writes: {
    'track a brand': { unit: 'ms', ceiling: BARE_APPEND, target: ratioMax(3) },
    'track and untrack': { unit: 'ms', ceiling: BARE_APPEND, target: ratioMax(3.5) },
    'create an API key': { unit: 'ms', ceiling: BARE_APPEND, target: ratioMax(3.5) },
    'track a brand, CPU of *': { unit: 'ms' },
    'files that a command runs through': { unit: 'files', target: max(30) },
  },
  projector: {
    'radar, live': { unit: '/s', ceiling: 'COPY into the indexed table', target: ratioMin(0.4) },
    'radar, rebuild': { unit: '/s', ceiling: 'COPY, then the indexes', target: ratioMin(0.36) },
    'start/stop brands, ads': { unit: '/s', ceiling: 'ordinary brands', target: ratioMin(0.5) },
    'start/stop brands, all read models of ads': {
      unit: '/s',
      ceiling: 'ordinary brands',
      target: ratioMin(0.5),
    },
  },
  replay: {
    'all read models': {
      unit: '/s',
      ceiling: 'reading the log once',
      target: { of: 'measured', min: 10_000 },
    },
    'CPU of an event, all processes': {
      unit: 'µs',
      ceiling: 'reading, and COPY of the rows',
      target: max(180),
    },
    'CPU of an event, reading alone': { unit: 'µs', target: max(12) },
    'CPU of an event, *': { unit: 'µs' },
    'verification of all': { unit: 's', ceiling: 'first fill', target: ratioMax(1.3) },
    'bytes of a row': { unit: 'bytes' },
    'peak memory of the projector': { unit: 'MiB', target: max(512) },
  },
  live: { '*': { unit: 'ms' } },
  'rebuild-under-load': {
    'p99 of reads': { unit: 'ms', ceiling: 'before the rebuild', target: ratioMax(2) },
    'failed requests': { unit: 'requests', target: max(0) },
    rebuild: { unit: 's' },
  },
  ingest: {
    'first scan of 10,000 ads': { unit: 's', target: max(2) },
    'scan of 10,000 ads, 2 % changed': { unit: 's', target: max(0.6) },
    'peak memory': { unit: 'MiB', target: max(220) },
    'CPU of a scan, *': { unit: 'ms' },
  },
  'wide-observations': {
    'first scan of pages': { unit: 'ms', ceiling: SMALLEST, target: ratioMax(1.3) },
    'second scan of pages': { unit: 'ms', ceiling: SMALLEST, target: ratioMax(1.3) },
    'links of one page': { unit: 'ms', ceiling: SMALLEST, target: ratioMax(1.3) },
    'links of one brand': { unit: 'ms', ceiling: SMALLEST, target: ratioMax(1.3) },
    'tools of a site': { unit: 'ms', ceiling: SMALLEST, target: ratioMax(1.3) },
    'products of a shop': { unit: 'ms', ceiling: SMALLEST, target: ratioMax(1.3) },
  },
  deliveries: {
    'notice to POST': { unit: '/s', ceiling: 'undici and HMAC', target: ratioMin(0.65) },
    'with a hanging endpoint, p95': { unit: 'ms', target: max(1_000) },
  },
  'alerts-path': {
    'event to webhook, p50': { unit: 'ms', target: max(12) },
    'event to webhook, p99': { unit: 'ms', target: max(60) },
    'CPU of an event, all processes': { unit: 'ms', target: max(6) },
    'CPU of an event, *': { unit: 'ms' },
    'transactions of an event': { unit: 'transactions' },
    'write-ahead log of an event': { unit: 'bytes' },
    'idle, in a second': { unit: 'transactions', target: max(5) },
  },
  console: {
    'first rows of 10,000 parked events': { unit: 's', ceiling: 'static page', target: max(1) },
  },
} as const satisfies Record<string, Record<string, Figure>>;

export type BenchName = keyof typeof FIGURES;

type Spelled<Name> = Name extends `${infer Before}*${infer After}` ? `${Before}${string}${After}` : Name;
export type FigureName<Name extends BenchName> = Spelled<keyof (typeof FIGURES)[Name] & string>;

/** `null` when no figure has this name. */
export const figureOf = (bench: string, name: string): Figure | null => {
  const figures: Readonly<Record<string, Figure>> = FIGURES[bench as BenchName] ?? {};
  const exact = figures[name];
  if (exact !== undefined) return exact;
  const pattern = Object.keys(figures).find((key) => {
    const [before, after] = key.split('*');
    return after !== undefined && name.startsWith(before ?? '') && name.endsWith(after);
  });
  return pattern === undefined ? null : (figures[pattern] ?? null);
};
