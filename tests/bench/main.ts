import { type BenchContext, type BenchResult, closingTable, ROUNDS_ALONE } from './bench.ts';

/** `npm run bench`: the benches named on the command line, or all, one after the other. */
const BENCHES: Readonly<Record<string, () => Promise<{ run(context: BenchContext): Promise<void> }>>> = {
  'event-store': () => import('./event-store.ts'),
  api: () => import('./api.ts'),
  reads: () => import('./reads.ts'),
  projector: () => import('./projector.ts'),
  live: () => import('./live.ts'),
  'rebuild-under-load': () => import('./rebuild-under-load.ts'),
  ingest: () => import('./ingest.ts'),
  writes: () => import('./writes.ts'),
  deliveries: () => import('./deliveries.ts'),
  'alerts-path': () => import('./alerts-path.ts'),
  console: () => import('./console.ts'),
};

const named = process.argv.slice(2);
const unknown = named.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}.`);
  process.exit(2);
}
// Leaving by `exit` takes the servers of the bench along; the default of a signal would not.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const results: BenchResult[] = [];
const context: BenchContext = {
  rounds: ROUNDS_ALONE,
  print: (line) => console.log(line),
  record: (result) => results.push(result),
};
let failed = false;
for (const name of named.length > 0 ? named : Object.keys(BENCHES)) {
  try {
    await (await BENCHES[name]?.())?.run(context);
  } catch (error) {
    failed = true;
    console.error(`bench ${name} could not be run:`, error);
  }
}
console.log(`\n${closingTable(results)}`);
process.exit(failed ? 1 : 0);
