import { on, once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DetectedTool } from '#contracts/observations/site-scan.ts';
import { createKeyedMutex } from '#platform/concurrency/queues.ts';
import type { Log } from '#platform/logger.ts';
import type { ScannedPage } from './match-tools.ts';
import type { WorkerMessage } from './rules-worker.ts';

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

/** Runs the rules in a worker thread. Ends the thread on timeout; the next page starts a new one. */
export const createToolDetector = ({
  folder = null,
  log,
  pageTimeMs = DETECT_TIMEOUT_MS,
}: ToolDetectorOptions): ToolDetector => {
  const serialize = createKeyedMutex();
  let running: Worker | null = null;

  const stop = async (): Promise<void> => {
    const worker = running;
    running = null;
    await worker?.terminate();
  };

  const start = async (): Promise<Worker> => {
    const worker = new Worker(new URL('rules-worker.ts', import.meta.url), {
      workerData: { folder },
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    // `unref` lets the process end. Without an error listener, an error would end the process.
    worker.unref();
    worker.on('error', () => undefined);
    const limit = AbortSignal.timeout(START_TIMEOUT_MS);
    try {
      const [ready] = (await once(worker, 'message', { signal: limit })) as [
        WorkerMessage & { readonly kind: 'ready' },
      ];
      const { tools, faults } = ready;
      log.info({ tools, faults: faults.length, first_fault: faults[0] ?? null }, 'tool rules read');
      return worker;
    } catch (error) {
      await worker.terminate();
      if (!limit.aborted) throw error;
      throw new Error(`The tool rules were not read within ${START_TIMEOUT_MS / 1_000} s.`, { cause: error });
    }
  };

  const detect = async (page: ScannedPage, signal: AbortSignal): Promise<Detection> => {
    signal.throwIfAborted();
    const worker = (running ??= await start());
    const html = page.html.slice(0, PAGE_MAX_LENGTH);
    const limit = AbortSignal.timeout(pageTimeMs);
    let tools: readonly DetectedTool[] = [];
    try {
      const messages = on(worker, 'message', { signal: AbortSignal.any([signal, limit]), close: ['exit'] });
      worker.postMessage({ ...page, html }, []);
      for await (const [message] of messages as AsyncIterable<[WorkerMessage]>) {
        if (message.kind === 'found') ({ tools } = message);
        if (message.kind === 'done')
          return { tools, isWhole: message.fault === null && html.length === page.html.length };
      }
      throw new Error('The thread of the tool rules ended.');
    } catch (error) {
      await stop();
      signal.throwIfAborted();
      // A pattern took too long, or the thread ran out of memory for this page.
      const reason = limit.aborted ? `no end within ${pageTimeMs} ms` : (error as Error).message;
      log.warn({ url: page.url, reason }, 'tool rules failed');
      return { tools, isWhole: false };
    }
  };

  return {
    detect: (page, signal) => serialize('page', () => detect(page, signal)),
    [Symbol.asyncDispose]: stop,
  };
};
