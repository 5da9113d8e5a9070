import {
  type ArchiveAccess,
  mayCall,
  nextCallMs,
  recordCall,
  shutAccess,
  startPace,
} from '#domain/collecting/pace.ts';
import type { Clock } from '#platform/clock.ts';
import { createKeyedMutex } from '#platform/concurrency/queues.ts';
import type { ArchiveAnswer, ArchiveClient, ArchiveRequest, ArchiveSearch } from './archive-client.ts';

export type AccountState = {
  readonly access: ArchiveAccess;
  /** Percent; `null` when unknown or older than an hour. */
  readonly percent: number | null;
};

/** Answer of the platform, or the state of the account that makes calls impossible. */
export type AccountAnswer =
  | Exclude<ArchiveAnswer, { readonly kind: 'limited' | 'denied' }>
  | { readonly kind: 'shut'; readonly untilMs: number; readonly detail: string }
  | { readonly kind: 'off'; readonly detail: string };

export type PacedAccount = {
  /** Waits for the pace. Throws on abort, and when the state cannot be stored. */
  call(request: ArchiveRequest | ArchiveSearch, signal: AbortSignal): Promise<AccountAnswer>;
  state(): AccountState;
};

export type PacedAccountOptions = {
  readonly client: ArchiveClient;
  readonly clock: Clock;
  readonly callsPerHour: number;
  readonly stored: AccountState;
  /** Stores a changed state before the reply is used. */
  readonly save: (state: AccountState) => Promise<void>;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** Makes calls one at a time at the account's pace. Only one process may own an account: the pace is in its memory. */
export const createPacedAccount = (options: PacedAccountOptions): PacedAccount => {
  const { client, clock, callsPerHour, stored, save, wait } = options;
  const serialize = createKeyedMutex();
  let { access, percent } = stored;
  let pace = startPace(percent);
  const nowMs = (): number => clock.now().getTime();

  const refused = (detail: string): AccountAnswer =>
    access.kind === 'shut'
      ? { kind: 'shut', untilMs: access.untilMs, detail }
      : { kind: 'off', detail: access.kind === 'off' ? access.reason : detail };

  const untilPace = async (signal: AbortSignal): Promise<void> => {
    for (let next = nextCallMs(pace, callsPerHour); next > nowMs(); next = nextCallMs(pace, callsPerHour)) {
      await wait(next - nowMs(), signal);
      signal.throwIfAborted();
    }
  };

  const change = async (next: AccountState): Promise<void> => {
    const isSame = next.percent === percent && JSON.stringify(next.access) === JSON.stringify(access);
    ({ access, percent } = next);
    if (!isSame) await save(next);
  };

  const call = async (
    request: ArchiveRequest | ArchiveSearch,
    signal: AbortSignal,
  ): Promise<AccountAnswer> => {
    signal.throwIfAborted();
    if (!mayCall(access, nowMs())) return refused('the account rests');
    await untilPace(signal);
    const startMs = nowMs();
    const { answer, usage } = await client.call(request, signal);
    pace = recordCall(pace, { startMs, endMs: nowMs() }, usage);
    const used = usage?.percent ?? percent;
    if (answer.kind === 'limited') {
      await change({ access: shutAccess(access, usage?.regainMinutes ?? 0, nowMs()), percent: used });
      return refused(answer.detail);
    }
    if (answer.kind === 'denied') {
      await change({ access: { kind: 'off', reason: answer.detail }, percent: used });
      return refused(answer.detail);
    }
    // Only a reply to the request proves that the account is open; a fault proves nothing.
    await change({ access: answer.kind === 'fault' ? access : { kind: 'open' }, percent: used });
    return answer;
  };

  return {
    call: (request, signal) => serialize('account', () => call(request, signal)),
    state: () => ({ access, percent }),
  };
};
