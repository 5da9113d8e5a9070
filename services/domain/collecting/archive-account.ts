import { HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';

/** The platform may ask for a longer rest. */
const SHUT_FIRST_MS = 30 * MINUTE_MS;
const SHUT_MAX_MS = 6 * HOUR_MS;

export type ArchiveAccess =
  | { readonly kind: 'open' }
  /** Limited `times` in a row. After `untilMs` one call tests the access. */
  | { readonly kind: 'shut'; readonly untilMs: number; readonly times: number }
  /** The token was rejected; only an operator with another token opens the account again. */
  | { readonly kind: 'off'; readonly reason: string };

export const shutAccess = (access: ArchiveAccess, regainMinutes: number, nowMs: number): ArchiveAccess => {
  if (access.kind === 'off') return access;
  const times = access.kind === 'shut' ? access.times + 1 : 1;
  const restMs = Math.min(SHUT_FIRST_MS * 2 ** Math.min(times - 1, 10), SHUT_MAX_MS);
  return { kind: 'shut', untilMs: nowMs + Math.max(restMs, regainMinutes * MINUTE_MS), times };
};

export const mayCall = (access: ArchiveAccess, nowMs: number): boolean =>
  access.kind === 'open' || (access.kind === 'shut' && access.untilMs <= nowMs);
