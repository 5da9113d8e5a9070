export interface StoredEvent {
  /** Strictly increasing over the store, not contiguous. */
  readonly position: number;
  /** `TOMBSTONE_REVISION` for a tombstone. */
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
  /** Encoded read reply, created on first use and shared by all live subscribers. */
  wire?: Buffer;
}

export interface ProposedEvent {
  readonly id: Buffer;
  readonly type: Buffer;
  readonly isJson: boolean;
  readonly data: Buffer;
  readonly metadata: Buffer;
}

/** A revision, or a condition on the stream. */
export type Expected = number | 'any' | 'no_stream' | 'stream_exists';

export interface Written {
  readonly kind: 'written';
  /** -1 when nothing was written to a stream without events. */
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
  /** `Infinity` for no deadline. */
  readonly deadlineMs: number;
  /** Called exactly once, after the commit when something was written. */
  settle(outcome: WriteOutcome): void;
}
