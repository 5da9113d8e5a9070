import type { Call } from './history.ts';
import { apiKeysOf, type KeyWrite } from './kinds/api-keys.ts';
import type { Choose } from './kinds/kind.ts';
import { createRecord, type KindRecord } from './record.ts';
import type { Session } from './session.ts';

/** Requests that callers send with the API keys that they issue: a revoked key must not open anything any more. */

/** Share of the calls that use a key, in 100. */
const USES_OF_100 = 40;
/** Newest keys that callers use. Some of them are revoked. */
const NEWEST_USED = 5;

/** A request that was sent with a key. `unknown`: it was not answered, or by 503. */
export type KeyUse = Call & {
  readonly key: string;
  readonly outcome: 'accepted' | 'rejected' | 'unknown';
};

/** Returns the key that a write takes away; `null` for others. */
const removedBy = ({ operation }: KeyWrite): string | null =>
  operation.kind === 'issue' ? null : operation.id;

/** Other replies do not say that the key is gone: a refused rotation may come before the reply to the revocation. */
const isAcknowledged = ({ outcome }: KeyWrite): boolean =>
  outcome.kind === 'revoked' || outcome.kind === 'issued';

/**
 * Returns the uses that may not have been answered so: a success that was sent after the revocation of the key was acknowledged, and
 * a rejection that came before the first request that takes the key away. Callers use a key only when its issue was acknowledged.
 */
export const brokenUses = (uses: readonly KeyUse[], writes: readonly KeyWrite[]): readonly KeyUse[] =>
  uses.filter(({ key, outcome, sentMs, endedMs }) => {
    const removals = writes.filter((write) => removedBy(write) === key);
    if (outcome === 'accepted')
      return removals.some((removal) => isAcknowledged(removal) && removal.endedMs < sentMs);
    return outcome === 'rejected' && removals.every((removal) => removal.sentMs > endedMs);
  });

export type KeyRecord = KindRecord & {
  /** Returns all uses, and those that may not have been answered so. */
  uses(): { readonly sent: number; readonly broken: readonly string[] };
};

const OUTCOMES: Readonly<Record<number, KeyUse['outcome']>> = { 200: 'accepted', 401: 'rejected' };

/** Creates the record of the API keys of a workspace. After each acknowledged revocation the key is used at both API processes. */
export const createKeyRecord = (owner: Parameters<typeof apiKeysOf>[0]): KeyRecord => {
  /** Texts of the issued keys by id, oldest first. */
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
