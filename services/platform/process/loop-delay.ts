import { monitorEventLoopDelay } from 'node:perf_hooks';
import { z } from 'zod';

/** Milliseconds of a window. */
const WINDOW_MS = 500;
/** Interval of the samples in ms, which each measured value includes. */
const RESOLUTION_MS = 10;
const PERCENTILE = 99;
/** Windows in a row over the limit after which searches are refused, and after which other reads are, too. */
const WINDOWS_UNTIL_SEARCHES = 2;
const WINDOWS_UNTIL_READS = 6;
const NANOS_PER_MS = 1e6;

/** The work that a process refuses for now, because its event loop is late. */
export type Refused = 'nothing' | 'searches' | 'reads and searches';

export type LoopLoad = {
  refused(): Refused;
};

/** Returns the refused work after each window, given its delay in ms. One window within the limit ends all refusals. */
export const createLoopLoad = (limitMs: number): LoopLoad & { window(delayMs: number): void } => {
  let late = 0;
  return {
    window: (delayMs) => {
      late = delayMs > limitMs ? late + 1 : 0;
    },
    refused: () => {
      if (late < WINDOWS_UNTIL_SEARCHES) return 'nothing';
      return late < WINDOWS_UNTIL_READS ? 'searches' : 'reads and searches';
    },
  };
};

/**
 * Measures how late the event loop is until disposed of. When it was later than the limit in ms for a second, the process
 * refuses searches, and after three seconds other reads, too. So it has time for commands and keys.
 */
export const openLoopLoad = (limitMs: number): LoopLoad & Disposable => {
  const load = createLoopLoad(limitMs);
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const measuring = setInterval(() => {
    load.window(delay.percentile(PERCENTILE) / NANOS_PER_MS - RESOLUTION_MS);
    delay.reset();
  }, WINDOW_MS);
  measuring.unref();
  return {
    refused: () => load.refused(),
    [Symbol.dispose]: () => {
      clearInterval(measuring);
      delay.disable();
    },
  };
};

export const loopDelaySettings = {
  LOOP_DELAY_MS: z.coerce
    .number()
    .int()
    .min(10)
    .default(100)
    .describe(
      'Milliseconds by which the event loop may be late (99th percentile). After a second over it, searches get 503 with `retry-after`; after three seconds, other reads, too. Commands go on.',
    ),
};
