/** Calls with the same key within one event-loop iteration share a read, which is never older than their own. */
export type ReadCoalescing<T> = (key: string, read: () => Promise<T>) => Promise<T>;

export const createReadCoalescing = <T>(): ReadCoalescing<T> => {
  let readsOfIteration = new Map<string, Promise<T>>();
  return (key, read) => {
    const shared = readsOfIteration.get(key);
    if (shared) return shared;
    if (readsOfIteration.size === 0) {
      setImmediate(() => {
        readsOfIteration = new Map();
      });
    }
    const reading = read();
    readsOfIteration.set(key, reading);
    return reading;
  };
};
