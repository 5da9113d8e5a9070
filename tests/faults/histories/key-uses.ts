import type { Call } from './history.ts';
import { apiKeysOf, type KeyWrite } from './kinds/api-keys.ts';
import type { Choose } from './kinds/kind.ts';
import { createRecord, type KindRecord } from './record.ts';
import type { Session } from './session.ts';

/** Share of the calls that use a key, because a revoked one must open nothing. */

const USES_OF_100 = 40;
/** Newest keys that callers use; some of them are revoked. */
const NEWEST_USED = 5;

/** Request with a key. `unknown`: no answer, or 503. */
export type KeyUse = Call & {
  readonly key: string;
  readonly outcome: 'accepted' | 'rejected' | 'unknown';
};

/** Key that a write takes away; `null` when it takes none. */
const removedBy = ({ operation }: KeyWrite): string | null =>
  operation.kind === 'issue' ? null : operation.id;

/** Other replies do not say that the key is gone: a refused rotation may come before the reply to the revocation. */
const isAcknowledged = ({ outcome }: KeyWrite): boolean =>
  outcome.kind === 'revoked' || outcome.kind === 'issued';

/**
 * Uses that break a rule: a success after an acknowledged revocation, or a rejection before the first request to
 * revoke.
 */
export const brokenUses = (uses: readonly KeyUse[], writes: readonly KeyWrite[]): readonly KeyUse[] =>
  uses.filter(({ key, outcome, sentMs, endedMs }) => {
    const removals = writes.filter((write) => removedBy(write) === key);
    if (outcome === 'accepted')
      return removals.some((removal) => isAcknowledged(removal) && removal.endedMs < sentMs);
    return outcome === 'rejected' && removals.every((removal) => removal.sentMs > endedMs);
  });

export type KeyRecord = KindRecord & {
  uses(): { readonly sent: number; readonly broken: readonly string[] };
};

const OUTCOMES: Readonly<Record<number, KeyUse['outcome']>> = { 200: 'accepted', 401: 'rejected' };

/** Records keys, and uses each revoked one at both API processes. */
export const createKeyRecord = (owner: Parameters<typeof apiKeysOf>[0]): KeyRecord => {
  /** Texts by key id, oldest first. */
  const texts = new Map<string, string>();
  const uses: KeyUse[] = [];

  const use = async (session: Session, id: string): Promise<void> => {
    const key = texts.get(id);
    if (key === undefined) return;
    const sentMs = Date.now();
    const reply = await session.send({ method: 'GET', path: '/v1/me' }, { key }).catch(() => null);
    const outcome = OUTCOMES[reply?.status ?? 0] ?? 'unknown';
    uses.push({ caller: session.caller, key: id, sentMs, endedMs: Date.now(), outcome });
  };

  const record = createRecord(apiKeysOf(owner), async (write, data, session) => {
    if (write.outcome.kind === 'issued') texts.set(write.outcome.id, (data as { api_key: string }).api_key);
    const removed = isAcknowledged(write) ? removedBy(write) : null;
    if (removed === null) return;
    await use(session, removed);
    session.move();
    await use(session, removed);
  });

  return {
    ...record,
    act: async (session: Session, choose: Choose) => {
      const id = [...texts.keys()].slice(-NEWEST_USED)[choose(Math.min(NEWEST_USED, texts.size))];
      if (id !== undefined && choose(100) < USES_OF_100) await use(session, id);
      else await record.act(session, choose);
    },
    uses: () => ({
      sent: uses.length,
      broken: brokenUses(uses, record.writes).map(
        ({ caller, key, outcome, sentMs, endedMs }) =>
          `caller ${caller}, use of ${key} of ${sentMs} to ${endedMs}: ${outcome}`,
      ),
    }),
  };
};
