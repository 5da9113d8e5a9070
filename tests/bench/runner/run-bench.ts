import { type BenchName, FIGURES, figureOf } from '../figures.ts';
import { type BenchContext, ROUNDS } from './bench.ts';

/** Runs each bench in a process of its own, so that one failure does not end the others. */
const RUNS: { readonly [Name in BenchName]: () => Promise<(context: BenchContext<Name>) => Promise<void>> } =
  {
    repository: async () => (await import('../repository.ts')).run,
    'event-store': async () => (await import('../event-store.ts')).run,
    api: async () => (await import('../api.ts')).run,
    reads: async () => (await import('../reads.ts')).run,
    'past-reads': async () => (await import('../past-reads.ts')).run,
    writes: async () => (await import('../writes.ts')).run,
    projector: async () => (await import('../projector.ts')).run,
    replay: async () => (await import('../projector/replay.ts')).run,
    live: async () => (await import('../live.ts')).run,
    'rebuild-under-load': async () => (await import('../rebuild-under-load.ts')).run,
    ingest: async () => (await import('../ingest.ts')).run,
    'wide-observations': async () => (await import('../ingest/wide-observations.ts')).run,
    deliveries: async () => (await import('../deliveries.ts')).run,
    'alerts-path': async () => (await import('../alerts-path.ts')).run,
    console: async () => (await import('../console.ts')).run,
  };

const runBench = async (bench: BenchName): Promise<void> => {
  const seen = new Set<string>();
  const see = (figure: string): void => {
    if (figureOf(bench, figure) === null)
      throw new Error(`figures.ts has no figure "${figure}" of the bench ${bench}.`);
    seen.add(figure);
  };
  const context: BenchContext<BenchName> = {
    rounds: ROUNDS,
    print: (line) => console.log(line),
    record: (figure, measured, ceiling, ratio) => {
      see(figure);
      const result = {
        bench,
        figure,
        measured,
        ceiling: ceiling ?? null,
        ratio: ceiling === undefined ? null : (ratio ?? measured / ceiling),
      };
      // A figure that is not a number means that nothing was measured, for example because a metric was renamed.
      if ([measured, ceiling, result.ratio].some(Number.isNaN))
        throw new Error(`The figure has no value: ${JSON.stringify(result)}`);
      process.send?.(result);
    },
    skip: (figure, reason) => {
      see(figure);
      console.log(`  ${bench}: ${String(figure)}: skipped, ${reason}`);
    },
  };
  const run = await RUNS[bench]();
  await run(context);
  const missing = Object.keys(FIGURES[bench]).filter((name) =>
    name.includes('*')
      ? ![...seen].some((one) => !(one in FIGURES[bench]) && figureOf(bench, one) !== null)
      : !seen.has(name),
  );
  if (missing.length > 0) throw new Error(`The bench ${bench} did not measure: ${missing.join('; ')}.`);
};

// `exit` also stops the servers of the bench; the default handling of a signal would not.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
await runBench(process.argv[2] as BenchName);
// Messages are written in order, so that all figures have been written when this one has.
await new Promise((resolve) => (process.send ? process.send(null, resolve) : resolve(null)));
process.exit(0);
