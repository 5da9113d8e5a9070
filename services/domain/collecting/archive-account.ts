import { HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';

/** Milliseconds that a limited account rests: at first, then doubling, and at most. The platform may ask for more. */
const SHUT_FIRST_MS = 30 * MINUTE_MS;
const SHUT_MAX_MS = 6 * HOUR_MS;

/** Access of an account to the library API. Times are milliseconds since 1970. */
export type ArchiveAccess =
  | { readonly kind: 'open' }
  /** Limited `times` in a row. After `untilMs` one call tries whether it is open again. */
  | { readonly kind: 'shut'; readonly untilMs: number; readonly times: number }
  /** The token is refused. Only an operator opens the account again, with another token. */
  | { readonly kind: 'off'; readonly reason: string };

/** Returns the access after the platform refused a call because of a limit. */
export const shutAccess = (access: ArchiveAccess, regainMinutes: number, nowMs: number): ArchiveAccess => {
  if (access.kind === 'off') return access;
  const times = access.kind === 'shut' ? access.times + 1 : 1;
  const restMs = Math.min(SHUT_FIRST_MS * 2 ** Math.min(times - 1, 10), SHUT_MAX_MS);
  return { kind: 'shut', untilMs: nowMs + Math.max(restMs, regainMinutes * MINUTE_MS), times };
};

/** Returns whether a call may be made now. */
export const mayCall = (access: ArchiveAccess, nowMs: number): boolean =>
  access.kind === 'open' || (access.kind === 'shut' && access.untilMs <= nowMs);
