import type { Readable } from 'node:stream';

export type StoredObject = { readonly bytes: number; readonly sha256: string };

/** Whole files by key. An object appears at once and complete, or not at all. */
export type ObjectStore = {
  /** Writes what the source yields; a source that throws leaves nothing behind. */
  write(key: string, source: AsyncIterable<string | Uint8Array>): Promise<StoredObject>;
  /** `null` where there is no such object. */
  open(key: string): Promise<{ readonly bytes: number; read(): Readable } | null>;
  /** Removes everything below a prefix but one object. */
  removeAllBut(prefix: string, key: string | null): Promise<void>;
};

/** Lower-case names with slashes between; nothing that could leave a folder. */
const KEY = /^[a-z0-9_-]+(\/[a-z0-9_-]+)*(\.[a-z0-9]+)?$/;
const KEY_MAX_LENGTH = 500;

export const assertObjectKey = (key: string): string => {
  if (key.length > KEY_MAX_LENGTH || !KEY.test(key)) throw new Error(`no key of an object: ${key}`);
  return key;
};
