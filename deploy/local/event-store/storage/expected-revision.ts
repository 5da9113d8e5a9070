import type { Expected, Refusal } from '../model.ts';

export interface StreamState {
  /** -1 without events. */
  readonly revision: number;
  readonly tombstoned: boolean;
  readonly softDeleted: boolean;
  readonly hasMetadata: boolean;
}

export type Decision =
  | { readonly kind: 'write' }
  /** Repeated append or conflict: compare with the stored ids from this revision on. */
  | { readonly kind: 'compare'; readonly firstRevision: number }
  /** New, unless the first id was written to this stream recently. */
  | { readonly kind: 'write-unless-recent' }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

const WRITE: Decision = { kind: 'write' };
const WRITE_UNLESS_RECENT: Decision = { kind: 'write-unless-recent' };

/** Rules of the real server. A stream with metadata alone counts as existing. */
export function decide(state: StreamState, expected: Expected): Decision {
  if (state.tombstoned) return refuse({ kind: 'stream-deleted' });
  if (expected === 'any') return state.softDeleted ? WRITE : WRITE_UNLESS_RECENT;
  if (expected === 'stream_exists') {
    if (state.softDeleted) return refuse({ kind: 'stream-deleted' });
    if (state.revision < 0 && !state.hasMetadata) return refuse(conflict(state, expected));
    return WRITE_UNLESS_RECENT;
  }
  const revision = expected === 'no_stream' ? -1 : expected;
  if (state.softDeleted && revision === -1) return WRITE;
  if (revision > state.revision) return refuse(conflict(state, expected));
  if (revision === state.revision) return WRITE;
  return { kind: 'compare', firstRevision: revision + 1 };
}

/**
 * A deletion has no event ids that reveal a repetition, so cases that an append would compare are conflicts, and a
 * stream that never existed too.
 */
export function decideDeletion(
  state: StreamState,
  expected: Expected,
  kind: 'soft-delete' | 'tombstone',
): Decision {
  const decision = decide(state, expected);
  if (decision.kind === 'refuse') return decision;
  if (decision.kind === 'compare') return refuse(conflict(state, expected));
  if (kind === 'soft-delete' && state.revision < 0 && !state.hasMetadata)
    return refuse(conflict(state, expected));
  return WRITE;
}

export function conflict(state: StreamState, expected: Expected): Refusal {
  return { kind: 'wrong-expected-version', expected, actual: state.revision };
}

function refuse(refusal: Refusal): Decision {
  return { kind: 'refuse', refusal };
}
