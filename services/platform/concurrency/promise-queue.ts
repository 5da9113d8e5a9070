/** What several things that go on come to, one after the other. */
export type FirstOf<T> = {
  watch(going: Promise<T>): void;
  /** What came first and was not answered yet; `null` when nothing does in this time. Throws what one failed with. */
  next(timeoutMs: number): Promise<T | null>;
};

/** As a race that is run again and again, but leaves nothing behind on what goes on for long. */
export const openFirstOf = <T>(): FirstOf<T> => {
  const come: T[] = [];
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  const see = async (going: Promise<T>): Promise<void> => {
    try {
      come.push(await going);
    } catch (error) {
      failure ??= { error };
    }
    wake?.();
  };
  return {
    watch: (going) => void see(going),
    next: async (timeoutMs) => {
      if (come.length === 0 && !failure) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = undefined;
      }
      if (failure) throw failure.error;
      return come.shift() ?? null;
    },
  };
};
