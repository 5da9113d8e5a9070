/** What the store keeps and what callers ask of it, in the store's own words rather than the protocol's. */

/** One event as it is kept. Byte fields may be views of larger buffers and must not be changed. */
export interface StoredEvent {
  /** Strictly increasing over the whole store, not contiguous. */
  readonly position: number;
  /** 0, 1, 2 … within the stream; `TOMBSTONE_REVISION` for a tombstone. */
  readonly revision: number;
  /** UTF-8. */
  readonly stream: Buffer;
  /** 16 bytes. */
  readonly id: Buffer;
  /** UTF-8. */
  readonly type: Buffer;
  readonly isJson: boolean;
  readonly createdMs: number;
  readonly data: Buffer;
  readonly metadata: Buffer;
  /** The event as a read answers it, made when first needed and shared by all who read it live. */
  wire?: Buffer;
}

export interface ProposedEvent {
  readonly id: Buffer;
  readonly type: Buffer;
  readonly isJson: boolean;
  readonly data: Buffer;
  readonly metadata: Buffer;
}

/** A revision, or what the caller knows instead of one. */
export type Expected = number | 'any' | 'no_stream' | 'stream_exists';

export interface Written {
  readonly kind: 'written';
  /** Of the last event written; -1 when nothing was written to a stream without events. */
  readonly revision: number;
  /** `null` when nothing was written. */
  readonly position: number | null;
}

export type Refusal =
  | { readonly kind: 'wrong-expected-version'; readonly expected: Expected; readonly actual: number }
  | { readonly kind: 'stream-deleted' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'maximum-append-size-exceeded'; readonly limitBytes: number }
  | { readonly kind: 'bad-request'; readonly message: string }
  | { readonly kind: 'unavailable'; readonly message: string };

export type WriteOutcome = Written | Refusal;

export interface WriteRequest {
  readonly kind: 'append' | 'soft-delete' | 'tombstone';
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly ProposedEvent[];
  /** When the caller stops waiting; `Infinity` for never. */
  readonly deadlineMs: number;
  /** Called exactly once, after the commit when something was written. */
  settle(outcome: WriteOutcome): void;
}
