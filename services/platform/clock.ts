/** Clock that is injected, so that tests control the time. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

/** Waits `ms` milliseconds, or until the signal is aborted. Never rejects. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
