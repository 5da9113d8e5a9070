/**
 * Work under one name is done one after another, in the order in which it was asked for; work under different
 * names is not held up. Work that fails holds nobody up either.
 */
export type KeyedMutex = <T>(name: string, work: () => Promise<T>) => Promise<T>;

const nothing = (): void => undefined;

export const createKeyedMutex = (): KeyedMutex => {
  const latest = new Map<string, Promise<void>>();
  return async (name, work) => {
    const own = (latest.get(name) ?? Promise.resolve()).then(work);
    const over = own.then(nothing, nothing);
    latest.set(name, over);
    try {
      return await own;
    } finally {
      // Whoever is last leaves nothing behind.
      if (latest.get(name) === over) latest.delete(name);
    }
  };
};
