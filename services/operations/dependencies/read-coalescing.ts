/**
 * Single-flight for reads: calls with the same key within one event-loop iteration share one read. Queries are
 * sent at the end of the iteration, so a shared read is never older than a separate read would be.
 */
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
