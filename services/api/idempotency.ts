import { createCipheriv, createDecipheriv, hash, randomBytes, randomUUID } from 'node:crypto';
import { HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import { Refusal } from '#contracts/errors.ts';
import { pause } from '#platform/clock.ts';
import { type RetryLimits, retry } from '#platform/concurrency/retry.ts';
import { outsideTimeBudget, timeLeft } from '#platform/concurrency/time-budget.ts';
import { isPoolBusy } from '#platform/postgres/connection-failure.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { ShownOnce } from '#operations/endpoint/reply.ts';

/**
 * Encrypts stored replies with a key derived from the caller's API key, which is not stored: a reply may show a new
 * key.
 */
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const deriveKey = (keyText: string): Buffer => hash('sha256', `answers kept for ${keyText}`, 'buffer');

export const encryptReply = (text: string, keyText: string): string => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, deriveKey(keyText), nonce);
  const encrypted = [cipher.update(text, 'utf8'), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted]).toString('base64');
};

export const decryptReply = (encrypted: string, keyText: string): string => {
  const bytes = Buffer.from(encrypted, 'base64');
  const decipher = createDecipheriv(ALGORITHM, deriveKey(keyText), bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
};

/** After this the key may be used for another request. */
const RETENTION_HOURS = 24;
/** Retention of a text that is shown once: below an hour with the delay of its removal. */
export const SHOWN_ONCE_MINUTES = 55;
/** Time that a duplicate waits for the first request. After that it gets an error and must be retried. */
const WAIT_MS = 5_000;
const WAIT_STEP_MS = 50;
/** A claim without a reply for this long is abandoned, and another request may take it over. */
const ABANDONED_AFTER_SECONDS = 30;
/** Frees a claim whose answer was lost with its connection: Postgres may hold it for a failed request. */
const FREE_RETRIES: RetryLimits = { attempts: 8, firstDelayMs: 200, maxDelayMs: 5_000 };
const FREED_AT_ONCE = 1_000;
const PRUNE_EVERY_MS = HOUR_MS;
const REMOVE_SHOWN_ONCE_EVERY_MS = MINUTE_MS;

export type StoredReply = {
  readonly status: number;
  readonly data: string;
  readonly asOf: string | null;
  /** Log position of the write. `null` when nothing was appended. */
  readonly position: bigint | null;
  /** Set when `data` holds a text that no other reply shows. */
  readonly shownOnce?: ShownOnce | undefined;
};

type StoredContent = {
  readonly data: string;
  readonly asOf: string | null;
  readonly position?: string | null;
};

/** Ids of a claim that was taken. `takenBy`: its own. `commandId`: that of the first claim with this key. */
type Taken = { readonly commandId: string; readonly takenBy: string };

export type Claim = {
  /** Passed on to a request that takes the claim over, so that events of a crashed process are not appended twice. */
  readonly commandId: string;
  /** True when an earlier request with this key may have recorded the command. */
  readonly isTakenOver: boolean;
  store(reply: StoredReply): Promise<void>;
  /**
   * Releases the key without a reply. A failed request may have appended its events, so the next one takes over its
   * command id. Never throws: what Postgres does not answer is repeated.
   */
  release(outcome: 'refused' | 'failed'): Promise<void>;
};

export type IdempotentRequest = {
  readonly workspaceId: string;
  /** Id of the caller's API key: each has its own idempotency keys. */
  readonly scope: string;
  /** Text of that API key. Stored replies are encrypted with it. */
  readonly keyText: string;
  readonly path: string;
  readonly key: string;
  readonly fingerprint: string;
};

export type IdempotencyStore = Disposable & {
  /**
   * Returns a claim, or the reply that an earlier request got. Throws `Refusal` when the key cannot be claimed.
   */
  claim(request: IdempotentRequest): Promise<Claim | StoredReply>;
};

type Row = {
  readonly fingerprint: string;
  readonly command_id: string;
  readonly status: number | null;
  readonly answer: string | null;
  readonly is_gone: boolean;
  readonly is_key_revoked: boolean;
};

/** Claims the key when it is new, expired, or abandoned by a request with the same body. */
const CLAIM = `
  insert into access.idempotency as held (scope, path, key, fingerprint, command_id, taken_by, created_at, taken_at)
  values ($1, $2, $3, $4, $5, $5, now(), now())
  on conflict (scope, path, key) do update set
    fingerprint = excluded.fingerprint, taken_at = now(), taken_by = excluded.taken_by, status = null, answer = null, shown_once = false, key_id = null,
    command_id = case when held.created_at < now() - interval '${RETENTION_HOURS} hours' then excluded.command_id else held.command_id end,
    created_at = case when held.created_at < now() - interval '${RETENTION_HOURS} hours' then now() else held.created_at end
  where held.created_at < now() - interval '${RETENTION_HOURS} hours'
     or (held.status is null and held.fingerprint = excluded.fingerprint
         and held.taken_at < now() - interval '${ABANDONED_AFTER_SECONDS} seconds')
  returning command_id`;

/** A key that is missing from `access.api_key` counts as revoked, so that no failure shows the text of a revoked one. */
const FIND = `
  select fingerprint, command_id, status, answer,
    shown_once and (answer is null or created_at < now() - interval '${SHOWN_ONCE_MINUTES} minutes') as is_gone,
    key_id is not null and not exists (
      select from access.api_key k where k.workspace_id = $4 and k.key_id = held.key_id and not k.revoked) as is_key_revoked
  from access.idempotency held where scope = $1 and path = $2 and key = $3`;
const STORE = `
  update access.idempotency set status = $5, answer = $6, shown_once = $7, key_id = $8
  where scope = $1 and path = $2 and key = $3 and command_id = $4`;
const REMOVE_ANSWER =
  'update access.idempotency set answer = null where scope = $1 and path = $2 and key = $3 and shown_once';
const REMOVE_SHOWN_ONCE = `
  update access.idempotency set answer = null
  where shown_once and answer is not null and created_at < now() - interval '${SHOWN_ONCE_MINUTES} minutes'`;
const RELEASE =
  'delete from access.idempotency where scope = $1 and path = $2 and key = $3 and taken_by = $4 and status is null';
const ABANDON = `update access.idempotency set taken_at = '-infinity' where scope = $1 and path = $2 and key = $3 and taken_by = $4 and status is null`;
const PRUNE = `delete from access.idempotency where created_at < now() - interval '${RETENTION_HOURS} hours'`;

const KEY_REVOKED = new Refusal(
  'key_revoked',
  'The API key that was issued with this idempotency key is revoked. Send a new idempotency key to issue another.',
);
const REPLY_GONE = new Refusal(
  'reply_gone',
  `This request was done before, and its reply held a text that is shown once. It is kept for ${SHOWN_ONCE_MINUTES} minutes. Send a new idempotency key to issue another.`,
);

export const createIdempotencyStore = (pool: Database): IdempotencyStore => {
  const run = (sql: string): void => void pool.query(sql).catch(() => undefined);
  const pruning = setInterval(() => run(PRUNE), PRUNE_EVERY_MS);
  pruning.unref();
  const removing = setInterval(() => run(REMOVE_SHOWN_ONCE), REMOVE_SHOWN_ONCE_EVERY_MS);
  removing.unref();
  run(REMOVE_SHOWN_ONCE);

  let freeing = 0;
  const closing = new AbortController();
  /**
   * Frees a claim that may have been taken, or whose release failed. One that is not found may still wait at the server, and is
   * looked for again.
   */
  const freeLost = async (primaryKey: readonly string[], takenBy: string): Promise<void> => {
    if (freeing >= FREED_AT_ONCE) return;
    freeing += 1;
    const free = async (): Promise<void> => {
      const { rowCount } = await pool.query(ABANDON, [...primaryKey, takenBy]);
      if (rowCount === 0) throw new Error('The claim is not there.');
    };
    try {
      await retry(FREE_RETRIES, () => true, free, closing.signal);
    } catch {
      // A claim that was not freed ends with its lease.
    } finally {
      freeing -= 1;
    }
  };
  const takeClaim = async (primaryKey: readonly string[], fingerprint: string): Promise<Taken | null> => {
    const takenBy = randomUUID();
    try {
      const { rows } = await pool.query<{ command_id: string }>(CLAIM, [...primaryKey, fingerprint, takenBy]);
      return rows[0] ? { commandId: rows[0].command_id, takenBy } : null;
    } catch (error) {
      // A statement that got no connection was not sent.
      if (!isPoolBusy(error)) void outsideTimeBudget(() => freeLost(primaryKey, takenBy));
      throw error;
    }
  };

  return {
    claim: async ({ workspaceId, scope, keyText, path, key, fingerprint }) => {
      const primaryKey = [scope, path, key];
      const until = performance.now() + timeLeft(WAIT_MS);
      while (true) {
        const taken = await takeClaim(primaryKey, fingerprint);
        if (taken !== null) {
          const { commandId, takenBy } = taken;
          return {
            commandId,
            isTakenOver: commandId !== takenBy,
            store: async ({ status, data, asOf, position, shownOnce }) => {
              const content: StoredContent = { data, asOf, position: position?.toString() ?? null };
              const encrypted = encryptReply(JSON.stringify(content), keyText);
              await pool.query(STORE, [
                ...primaryKey,
                commandId,
                status,
                encrypted,
                shownOnce !== undefined,
                shownOnce?.keyId ?? null,
              ]);
            },
            release: async (outcome) => {
              try {
                await pool.query(outcome === 'refused' ? RELEASE : ABANDON, [...primaryKey, takenBy]);
              } catch {
                void outsideTimeBudget(() => freeLost(primaryKey, takenBy));
              }
            },
          };
        }
        const row = (await pool.query<Row>(FIND, [...primaryKey, workspaceId])).rows[0];
        if (row && row.fingerprint !== fingerprint) {
          throw new Refusal(
            'idempotency_key_reused',
            'This idempotency key was used with another body. Use a new key.',
          );
        }
        if (row?.status && row.is_key_revoked) {
          await pool.query(REMOVE_ANSWER, primaryKey);
          throw KEY_REVOKED;
        }
        if (row?.status && row.is_gone) throw REPLY_GONE;
        if (row?.status && row.answer !== null) {
          const { data, asOf, position } = JSON.parse(decryptReply(row.answer, keyText)) as StoredContent;
          return { status: row.status, data, asOf, position: position ? BigInt(position) : null };
        }
        if (performance.now() >= until) {
          throw new Refusal(
            'changed_meanwhile',
            'A request with this idempotency key is still running. Try again.',
          );
        }
        await pause(WAIT_STEP_MS);
      }
    },
    [Symbol.dispose]: () => {
      clearInterval(pruning);
      clearInterval(removing);
      closing.abort();
    },
  };
};
