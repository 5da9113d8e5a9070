import { PLANS } from '#contracts/values/access.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { Allowance, RequestCounts } from '#application/access/request-counts.ts';
import { timeLeft } from '#platform/concurrency/time-budget.ts';
import { CallTimeout } from './failure.ts';

export const CALLS_AT_ONCE_MAX = 8;
/** Time from the arrival of a request to its reply; a call may read several endpoints. */
export const CALL_BUDGET_MS = 20_000;
/** Counts against the member in the workspace over all connections. Counts nothing when not everything fits. */
export const takeRequests = (
  { workspaceId, memberId, plan }: Caller,
  cost: number,
  requestCounts: RequestCounts,
): Allowance | null => {
  const [key, limit] = [`${workspaceId}+${memberId}`, PLANS[plan].requestsPerMinute];
  let last: Allowance | null = null;
  for (let taken = 0; taken < cost; taken += 1) {
    last = requestCounts.take(key, limit);
    if (last.allowed) continue;
    for (; taken > 0; taken -= 1) requestCounts.giveBack(key);
    return last;
  }
  return last;
};

export type CallSlots = {
  /** Returns the function that frees the slot; `null` when none is free. */
  take(connectionId: string): (() => void) | null;
};

export const createCallSlots = (): CallSlots => {
  const running = new Map<string, number>();
  return {
    take: (connectionId) => {
      const count = running.get(connectionId) ?? 0;
      if (count >= CALLS_AT_ONCE_MAX) return null;
      running.set(connectionId, count + 1);
      let isFreed = false;
      return () => {
        if (isFreed) return;
        isFreed = true;
        const left = (running.get(connectionId) ?? 1) - 1;
        if (left === 0) running.delete(connectionId);
        else running.set(connectionId, left);
      };
    },
  };
};

/** Throws `CallTimeout` at `timeoutMs` or the end of the request's time, and ends the call's waits. */
export const withinCallTime = async <T>(call: Promise<T>, timeoutMs = CALL_BUDGET_MS): Promise<T> => {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new CallTimeout('call timed out')), timeLeft(timeoutMs));
  try {
    return await Promise.race([call, timeout.promise]);
  } finally {
    clearTimeout(timer);
    call.catch(() => undefined);
  }
};
