import { type BenchContext, type BenchResult, closingTable, ROUNDS } from './bench.ts';

/** `npm run bench`: runs the benches named on the command line, or all of them, one after the other. */
const BENCHES: Readonly<Record<string, () => Promise<{ run(context: BenchContext): Promise<void> }>>> = {
  'event-store': () => import('./event-store.ts'),
  api: () => import('./api.ts'),
  reads: () => import('./reads.ts'),
  projector: () => import('./projector.ts'),
  live: () => import('./live.ts'),
  'rebuild-under-load': () => import('./rebuild-under-load.ts'),
  ingest: () => import('./ingest.ts'),
  'wide-observations': () => import('./ingest/wide-observations.ts'),
  writes: () => import('./writes.ts'),
  deliveries: () => import('./deliveries.ts'),
  'alerts-path': () => import('./alerts-path.ts'),
  console: () => import('./console.ts'),
};

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`Unknown bench: ${unknown.join(', ')}. Available: ${Object.keys(BENCHES).join(', ')}.`);
  process.exit(2);
}
// `exit` also stops the servers of the bench; the default handling of a signal would not.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const results: BenchResult[] = [];
const context: BenchContext = {
  rounds: ROUNDS,
  print: (line) => console.log(line),
  record: (result) => {
    // A figure that is not a number means that nothing was measured, for example because a metric was renamed.
    if (/NaN/.test(`${result.measured} ${result.ceiling} ${result.ratio}`))
      throw new Error(`${result.bench} has no figure: ${JSON.stringify(result)}`);
    results.push(result);
  },
};
let failed = false;
for (const name of requested.length > 0 ? requested : Object.keys(BENCHES)) {
  try {
    await (await BENCHES[name]?.())?.run(context);
  } catch (error) {
    failed = true;
    console.error(`bench ${name} failed:`, error);
  }
}
console.log(`\n${closingTable(results)}`);
process.exit(failed ? 1 : 0);
