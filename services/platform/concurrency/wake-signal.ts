export type WaitLimits = { readonly timeoutMs?: number; readonly signal?: AbortSignal };

/** A wake-up signal with any number of notifiers and waiters. It stores nothing: a notification wakes current waiters. */
export type WakeSignal = {
  /** Wakes all current waiters. Has no effect when there are none. */
  readonly notify: () => void;
  /**
   * Resolves at the next notification, after the timeout, or when the signal is aborted. Never rejects.
   *
   * Check the condition in the same synchronous step as this call, or call this first and check while it is pending.
   * A notification between an earlier check and the call is missed. After it resolves, check the condition again.
   */
  next(limits?: WaitLimits): Promise<void>;
};

/** Creates a wake-up signal. A waiter that ends by timeout or abort is removed. */
export const createWakeSignal = (): WakeSignal => {
  const waiters = new Set<() => void>();
  return {
    notify: () => {
      for (const wake of waiters) wake();
    },
    next: ({ timeoutMs, signal } = {}) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        let timer: NodeJS.Timeout | undefined;
        const wake = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', wake);
          waiters.delete(wake);
          resolve();
        };
        waiters.add(wake);
        if (timeoutMs !== undefined) timer = setTimeout(wake, timeoutMs);
        signal?.addEventListener('abort', wake, { once: true });
      }),
  };
};
