/**
 * Work of one key runs in the order of the calls, of different keys concurrently. A failure does not stop later work.
 */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>;

const ignore = (): void => undefined;

/** Holds a key only while its work is queued or running. */
export const createKeyedMutex = (): KeyedMutex => {
  const latest = new Map<string, Promise<void>>();
  return async (key, work) => {
    const own = (latest.get(key) ?? Promise.resolve()).then(work);
    const ended = own.then(ignore, ignore);
    latest.set(key, ended);
    try {
      return await own;
    } finally {
      if (latest.get(key) === ended) latest.delete(key);
    }
  };
};
