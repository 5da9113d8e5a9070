import { randomUUID } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import { pause } from '#platform/clock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { decryptReply, encryptReply } from './reply-encryption.ts';

/** An answer is repeated this long; after that the key may be used for something else. */
const KEPT_HOURS = 24;
/** A duplicate waits for the first request this long before it is told to come again. */
const WAIT_MS = 5_000;
const WAIT_STEP_MS = 50;
/** The process that took a key and has not answered for so long is gone; another request may take over. */
const ABANDONED_AFTER_SECONDS = 30;
const PRUNE_EVERY_MS = 3_600_000;

export type StoredReply = {
  readonly status: number;
  readonly data: string;
  readonly asOf: string | null;
  /** Where the write stands in the log. */
  readonly position: bigint | null;
};

/** What stands in the table, sealed. */
type Kept = { readonly data: string; readonly asOf: string | null; readonly position?: string | null };

/** A key claimed by the request that now runs. */
export type Claim = {
  /** The same for whoever takes over, so that a command whose process died midway is not recorded twice. */
  readonly commandId: string;
  keep(answer: StoredReply): Promise<void>;
  /**
   * The request came to nothing. Refused, it did nothing, and the next one with this key is a fresh attempt;
   * failed, it may have recorded its events, so the next one takes over its command id.
   */
  release(outcome: 'refused' | 'failed'): Promise<void>;
};

export type IdempotentRequest = {
  /** Id of the caller's API key: an idempotency key is the caller's own. */
  readonly scope: string;
  /** Text of that API key. Answers are stored sealed with it. */
  readonly sealedWith: string;
  readonly path: string;
  readonly key: string;
  readonly fingerprint: string;
};

export type IdempotencyStore = Disposable & {
  /** A claim, or the answer that an earlier request got. */
  claim(request: IdempotentRequest): Promise<Claim | StoredReply>;
};

type Row = {
  readonly fingerprint: string;
  readonly command_id: string;
  readonly status: number | null;
  readonly answer: string | null;
};

/** Takes the key when it is new, expired, or abandoned by a request with the same body. */
const TAKE = `
  insert into access.idempotency as held (scope, path, key, fingerprint, command_id, created_at, taken_at)
  values ($1, $2, $3, $4, $5, now(), now())
  on conflict (scope, path, key) do update set
    fingerprint = excluded.fingerprint, taken_at = now(), status = null, answer = null,
    command_id = case when held.created_at < now() - interval '${KEPT_HOURS} hours' then excluded.command_id else held.command_id end,
    created_at = case when held.created_at < now() - interval '${KEPT_HOURS} hours' then now() else held.created_at end
  where held.created_at < now() - interval '${KEPT_HOURS} hours'
     or (held.status is null and held.fingerprint = excluded.fingerprint
         and held.taken_at < now() - interval '${ABANDONED_AFTER_SECONDS} seconds')
  returning command_id`;

const LOOK =
  'select fingerprint, command_id, status, answer from access.idempotency where scope = $1 and path = $2 and key = $3';
const KEEP =
  'update access.idempotency set status = $5, answer = $6 where scope = $1 and path = $2 and key = $3 and command_id = $4';
const RELEASE =
  'delete from access.idempotency where scope = $1 and path = $2 and key = $3 and command_id = $4 and status is null';
const ABANDON = `update access.idempotency set taken_at = '-infinity' where scope = $1 and path = $2 and key = $3 and command_id = $4 and status is null`;
const PRUNE = `delete from access.idempotency where created_at < now() - interval '${KEPT_HOURS} hours'`;

export const createIdempotencyStore = (pool: Database): IdempotencyStore => {
  const pruning = setInterval(() => void pool.query(PRUNE).catch(() => undefined), PRUNE_EVERY_MS);
  pruning.unref();

  return {
    claim: async ({ scope, sealedWith, path, key, fingerprint }) => {
      const place = [scope, path, key];
      for (let waitedMs = 0; ; waitedMs += WAIT_STEP_MS) {
        const taken = await pool.query<{ command_id: string }>(TAKE, [...place, fingerprint, randomUUID()]);
        const commandId = taken.rows[0]?.command_id;
        if (commandId !== undefined) {
          return {
            commandId,
            keep: async ({ status, data, asOf, position }) => {
              const kept: Kept = { data, asOf, position: position?.toString() ?? null };
              const sealed = encryptReply(JSON.stringify(kept), sealedWith);
              await pool.query(KEEP, [...place, commandId, status, sealed]);
            },
            release: async (outcome) => {
              await pool.query(outcome === 'refused' ? RELEASE : ABANDON, [...place, commandId]);
            },
          };
        }
        const row = (await pool.query<Row>(LOOK, place)).rows[0];
        if (row && row.fingerprint !== fingerprint) {
          throw new Refusal('idempotency_key_reused', 'This idempotency key was used with another body.');
        }
        if (row?.status && row.answer !== null) {
          const { data, asOf, position } = JSON.parse(decryptReply(row.answer, sealedWith)) as Kept;
          return { status: row.status, data, asOf, position: position ? BigInt(position) : null };
        }
        if (waitedMs >= WAIT_MS) {
          throw new Refusal(
            'changed_meanwhile',
            'A request with this idempotency key is still running. Try again.',
          );
        }
        await pause(WAIT_STEP_MS);
      }
    },
    [Symbol.dispose]: () => clearInterval(pruning),
  };
};
