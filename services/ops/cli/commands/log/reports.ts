const PROGRESS_EVERY_MS = 2_000;

/** Exit code of a command that Ctrl-C ended. */
const INTERRUPTED = 130;

export const untilInterrupted = (): AbortSignal => {
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  return ending.signal;
};

const duration = (seconds: number): string =>
  seconds < 60 ? `${Math.ceil(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.ceil(seconds % 60)} s`;

/** Returns a function that prints progress. A resumed command starts above share 0; the estimate counts from there. */
export const createReport = (what: string): ((events: number, share: number | null) => void) => {
  const since = performance.now();
  let printedAt = since;
  let shareBefore: number | null = null;
  return (events, share) => {
    shareBefore ??= share;
    const now = performance.now();
    if (now - printedAt < PROGRESS_EVERY_MS) return;
    printedAt = now;
    const seconds = (now - since) / 1_000;
    const done = (share ?? 0) - (shareBefore ?? 0);
    const left =
      share && done > 0
        ? `, ${Math.floor(share * 100)} %, ${duration((seconds * (1 - share)) / done)} left`
        : '';
    console.error(`${what}: ${events} events, ${Math.round(events / seconds)}/s${left}`);
  };
};

/** Says that an interrupted command can be repeated. */
export const reportInterrupted = (what: string): void => {
  console.error(`Stopped. The next ${what} continues from here.`);
  process.exitCode = INTERRUPTED;
};
