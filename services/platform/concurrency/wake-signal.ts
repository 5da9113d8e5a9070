export type WaitLimits = { readonly timeoutMs?: number; readonly signal?: AbortSignal };

/** Wakes current waiters only: a notification is not stored. */
export type WakeSignal = {
  readonly notify: () => void;
  /**
   * Never rejects. Check the condition in the same step as this call, or while it is pending: an earlier notification
   * is missed. Check it again afterwards.
   */
  next(limits?: WaitLimits): Promise<void>;
};

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
