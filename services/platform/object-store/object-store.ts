import type { Readable } from 'node:stream';

export type StoredObject = { readonly bytes: number; readonly sha256: string };

export type ByteRange = { readonly start: number; readonly end: number };

export type OpenObject = { readonly bytes: number; read(range?: ByteRange): Readable };

/** Writes are atomic: an object is visible completely or not at all. */
export type ObjectStore = {
  /** When `source` throws, an existing object stays unchanged. */
  write(key: string, source: AsyncIterable<string | Uint8Array>): Promise<StoredObject>;
  open(key: string): Promise<OpenObject | null>;
  exists(key: string): Promise<boolean>;
  remove(key: string): Promise<void>;
  /** Keeps `key`; `null` removes all below `prefix`. */
  removeAllBut(prefix: string, key: string | null): Promise<void>;
};

/** No key can leave the folder. */
const KEY = /^[a-z0-9_-]+(\/[a-z0-9_-]+)*(\.[a-z0-9]+)?$/;
const KEY_MAX_LENGTH = 500;

export const assertObjectKey = (key: string): string => {
  if (key.length > KEY_MAX_LENGTH || !KEY.test(key)) throw new Error(`Invalid object key: ${key}`);
  return key;
};
