import type { Readable } from 'node:stream';

export type StoredObject = { readonly bytes: number; readonly sha256: string };

/** Bytes of an object from `start` to `end`, both included. The first byte is 0. */
export type ByteRange = { readonly start: number; readonly end: number };

export type OpenObject = {
  readonly bytes: number;
  /** Reads the range, or the whole object. */
  read(range?: ByteRange): Readable;
};

/** Stores whole files by key. Writes are atomic: an object is visible completely or not at all. */
export type ObjectStore = {
  /** Writes the content of `source`. When `source` throws, an existing object stays unchanged. */
  write(key: string, source: AsyncIterable<string | Uint8Array>): Promise<StoredObject>;
  /** Opens an object, or returns `null` when it does not exist. */
  open(key: string): Promise<OpenObject | null>;
  /** Returns whether an object exists. */
  exists(key: string): Promise<boolean>;
  /** Removes an object. Has no effect when it does not exist. */
  remove(key: string): Promise<void>;
  /** Removes all objects below `prefix` except the object `key`; all of them when `key` is `null`. */
  removeAllBut(prefix: string, key: string | null): Promise<void>;
};

/** Valid keys: lower-case names separated by slashes. No key can leave the folder. */
const KEY = /^[a-z0-9_-]+(\/[a-z0-9_-]+)*(\.[a-z0-9]+)?$/;
const KEY_MAX_LENGTH = 500;

/** Returns the key. Throws when it is invalid. */
export const assertObjectKey = (key: string): string => {
  if (key.length > KEY_MAX_LENGTH || !KEY.test(key)) throw new Error(`Invalid object key: ${key}`);
  return key;
};
