import { Worker } from 'node:worker_threads';
import type { DetectedTool } from '#contracts/observations/site-scan.ts';
import { createKeyedMutex } from '#platform/concurrency/queues.ts';
import type { Log } from '#platform/logger.ts';
import type { ScannedPage } from './match-tools.ts';
import type { RulesWorkerData, WorkerMessage } from './rules-worker.ts';

export const PAGE_MAX_LENGTH = 2 * 1024 ** 2;
export const DETECT_TIMEOUT_MS = 2_000;
const START_TIMEOUT_MS = 60_000;
const MEMORY_MB = 512;

export type Detection = {
  readonly tools: readonly DetectedTool[];
  /** False when the page was cut or the rules timed out: a tool may be missing. */
  readonly isWhole: boolean;
};

export type ToolDetector = AsyncDisposable & {
  detect(page: ScannedPage, signal: AbortSignal): Promise<Detection>;
};

export type ToolDetectorOptions = {
  /** Rules in the format of the package `wappalyzer`, whose own are the default. */
  readonly folder?: string | null;
  readonly log: Log;
  readonly pageTimeMs?: number;
};

/** Throws the thread's error, and when it ends; `null` on timeout. */
const nextMessage = <T>(
  worker: Worker,
  timeMs: number,
  signal: AbortSignal | null,
  take: (message: WorkerMessage) => T | undefined,
): Promise<T | null> =>
  new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const onMessage = (message: WorkerMessage): void => {
      const taken = take(message);
      if (taken !== undefined) end(() => resolve(taken));
    };
    const onError = (error: Error): void => end(() => reject(error));
    const onExit = (): void => end(() => reject(new Error('The thread of the tool rules ended.')));
    const onAbort = (): void => end(() => reject(signal?.reason as Error));
    const timer = setTimeout(() => end(() => resolve(null)), timeMs);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    signal?.addEventListener('abort', onAbort, { once: true });
  });

/** Runs the rules in a worker thread. Ends the thread on timeout; the next page starts a new one. */
export const createToolDetector = ({
  folder = null,
  log,
  pageTimeMs = DETECT_TIMEOUT_MS,
}: ToolDetectorOptions): ToolDetector => {
  const serialize = createKeyedMutex();
  let running: Worker | null = null;
  let pages = 0;

  const stop = async (): Promise<void> => {
    const worker = running;
    running = null;
    await worker?.terminate();
  };

  const start = async (): Promise<Worker> => {
    const worker = new Worker(new URL('rules-worker.ts', import.meta.url), {
      workerData: { folder } satisfies RulesWorkerData,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    // `unref` lets the process end. Without an error listener, an error would end the process.
    worker.unref();
    worker.on('error', () => undefined);
    const ready = await nextMessage(worker, START_TIMEOUT_MS, null, (message) =>
      message.kind === 'ready' ? message : undefined,
    );
    if (ready === null) {
      await worker.terminate();
      throw new Error(`The tool rules were not read within ${START_TIMEOUT_MS / 1_000} s.`);
    }
    const { tools, faults } = ready;
    log.info({ tools, faults: faults.length, first_fault: faults[0] ?? null }, 'tool rules read');
    return worker;
  };

  const detect = async (page: ScannedPage, signal: AbortSignal): Promise<Detection> => {
    signal.throwIfAborted();
    running ??= await start();
    const worker = running;
    const id = (pages += 1);
    let tools: readonly DetectedTool[] = [];
    const html = page.html.slice(0, PAGE_MAX_LENGTH);
    try {
      worker.postMessage({ id, page: { ...page, html } }, []);
      const done = await nextMessage(worker, pageTimeMs, signal, (message) => {
        if (message.kind === 'ready' || message.id !== id) return undefined;
        if (message.kind === 'done') return message;
        ({ tools } = message);
        return undefined;
      });
      if (done === null) {
        log.warn({ url: page.url }, 'tool rules took too long');
        await stop();
      }
      return { tools, isWhole: done?.fault === null && html.length === page.html.length };
    } catch (error) {
      await stop();
      signal.throwIfAborted();
      // The thread ran out of memory for this page.
      log.warn({ url: page.url, reason: (error as Error).message }, 'tool rules failed');
      return { tools, isWhole: false };
    }
  };

  return {
    detect: (page, signal) => serialize('page', () => detect(page, signal)),
    [Symbol.asyncDispose]: stop,
  };
};
