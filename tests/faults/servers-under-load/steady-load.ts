import { readFile } from 'node:fs/promises';
import { pause } from '#platform/clock.ts';

export type Call = {
  readonly startedMs: number;
  readonly ms: number;
  /** Status of the answer; `null` when none came in time. */
  readonly status: number | null;
};

export type Send = (signal: AbortSignal) => Promise<Response>;

const callOnce = async (send: Send, answerMs: number): Promise<Call> => {
  const startedMs = performance.now();
  const ended = (status: number | null): Call => ({ startedMs, ms: performance.now() - startedMs, status });
  try {
    const reply = await send(AbortSignal.timeout(answerMs));
    await reply.arrayBuffer();
    return ended(reply.status);
  } catch {
    return ended(null);
  }
};

export type SteadyLoad = {
  readonly sends: readonly Send[];
  readonly perSecond: number;
  readonly answerMs: number;
};

/** Sends at a steady rate, also while earlier calls wait. Returns all calls once they have ended. */
export const sendSteadily = async (
  { sends, perSecond, answerMs }: SteadyLoad,
  signal: AbortSignal,
): Promise<readonly Call[]> => {
  const calls: Promise<Call>[] = [];
  const startMs = performance.now();
  for (let n = 0; !signal.aborted; n += 1) {
    const send = sends[n % sends.length];
    if (send) calls.push(callOnce(send, answerMs));
    await pause(Math.max(0, startMs + ((n + 1) * 1_000) / perSecond - performance.now()), signal);
  }
  return Promise.all(calls);
};

export const isSuccess = ({ status }: Call): boolean => status !== null && status < 300;

const SAMPLE_MS = 250;

export type MemorySamples = Disposable & {
  peak(): number;
};

export const sampleMemory = (pid: number | undefined): MemorySamples => {
  let most = 0;
  const sample = async (): Promise<void> => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    most = Math.max(most, Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
  };
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  return {
    peak: () => {
      const peak = most;
      most = 0;
      return peak;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
};
