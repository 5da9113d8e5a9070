import { randomBytes, randomUUID } from 'node:crypto';
import type { SignInMethod } from '#contracts/events/workspace/sign-in.ts';
import { Refusal } from '#contracts/errors.ts';
import { BROWSERS_LOCK_CLASS } from '#contracts/ports/advisory-locks.ts';
import { BROWSERS_MAX, SIGN_IN_DAYS_MAX } from '#domain/workspace/sign-in.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { sha256Of } from '../access/key-format.ts';

/** A browser is signed out after this without a page view. */
export const IDLE_HOURS = 12;
const TOKEN_BYTES = 32;

export type BrowserSignIn = {
  readonly signInId: string;
  readonly accountId: string;
  readonly method: SignInMethod;
  readonly signedInAt: Date;
  readonly usedAt: Date;
};

export type Browsers = {
  /** Returns the new cookie, stored as a hash only. Throws `limit_reached` with `BROWSERS_MAX` signed-in browsers. */
  open(accountId: string, method: SignInMethod): Promise<string>;
  /** Records the use; `null` when the sign-in has ended. */
  find(token: string): Promise<BrowserSignIn | null>;
  list(accountId: string): Promise<readonly BrowserSignIn[]>;
  /** Ends the sign-in in every process at once. Ids of other members change nothing. */
  end(accountId: string, signInId: string): Promise<void>;
};

const LIVE = `expires_at > now() and used_at > now() - interval '${IDLE_HOURS} hours'`;
const COLUMNS = `sign_in_id as "signInId", account_id as "accountId", method,
  signed_in_at as "signedInAt", used_at as "usedAt"`;
const OPEN = `insert into sign_in.browser (sign_in_id, token_hash, account_id, method, expires_at)
  select $1, $2, $3::text, $4, now() + interval '${SIGN_IN_DAYS_MAX} days'
  where (select count(*) from sign_in.browser where account_id = $3::text and ${LIVE}) < ${BROWSERS_MAX}`;

export const createBrowsers = (pool: Database): Browsers => ({
  open: async (accountId, method) => {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const { rowCount } = await inTransaction(pool, async (client) => {
      // Sign-ins of one member count one after the other.
      await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [BROWSERS_LOCK_CLASS, accountId]);
      return client.query(OPEN, [`sin_${randomUUID()}`, sha256Of(token), accountId, method]);
    });
    if (rowCount === 1) return token;
    throw new Refusal(
      'limit_reached',
      `You are signed in in ${BROWSERS_MAX} browsers, the most for one member. Sign out in one of them, or wait until one was not used for ${IDLE_HOURS} hours.`,
    );
  },
  find: async (token) => {
    const sql = `update sign_in.browser set used_at = now() where token_hash = $1 and ${LIVE} returning ${COLUMNS}`;
    return (await pool.query<BrowserSignIn>(sql, [sha256Of(token)])).rows[0] ?? null;
  },
  list: async (accountId) => {
    const sql = `select ${COLUMNS} from sign_in.browser where account_id = $1 and ${LIVE}
      order by used_at desc, sign_in_id limit ${BROWSERS_MAX}`;
    return (await pool.query<BrowserSignIn>(sql, [accountId])).rows;
  },
  end: async (accountId, signInId) => {
    await pool.query('delete from sign_in.browser where account_id = $1 and sign_in_id = $2', [
      accountId,
      signInId,
    ]);
  },
});
