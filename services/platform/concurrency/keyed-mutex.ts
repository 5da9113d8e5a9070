/**
 * A mutex for each key: work under one key runs one after another, in the order of the calls. Work under different
 * keys runs concurrently. Work that fails does not stop the work behind it.
 */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>;

const ignore = (): void => undefined;

/** Creates a keyed mutex. It holds a key only while work under it is queued or running. */
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
