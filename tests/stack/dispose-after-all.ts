import { afterAll } from 'vitest';

/** For what all tests of a file share. Of several, the newest is disposed of first. */
export const disposeAfterAll = async <T extends AsyncDisposable>(opening: T | Promise<T>): Promise<T> => {
  const opened = await opening;
  afterAll(() => opened[Symbol.asyncDispose]());
  return opened;
};
