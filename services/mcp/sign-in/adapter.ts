import { type Adapter, type AdapterPayload, errors, Provider } from 'oidc-provider';
import { sha256Of } from '#application/access/key-format.ts';
import { identificationOf, REGISTERED_SECONDS } from '#application/sign-in/clients.ts';
import { connectionIdOf } from '#domain/workspace/connection.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** A client whose reply was lost repeats the exchange. A later reuse counts as theft and ends the connection. */
export const REFRESH_GRACE_SECONDS = 30;

/** Kinds of records that belong to a connection. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'AccessToken',
  'AuthorizationCode',
  'Grant',
  'RefreshToken',
]);

export type TokenRights = {
  /** Returns false when the connection has ended or never existed. */
  admit(connectionId: string): Promise<boolean>;
  /** Ends the connection in the log and in every process. */
  end(connectionId: string, reason: 'member' | 'token_reused'): Promise<void>;
};

/** True when an app revokes its own tokens (RFC 7009); otherwise a grant ends because of token reuse. */
const isRevocation = (): boolean => Provider.ctx?.oidc.route === 'revocation';

/** Omits the ids of the record and of the browser's session. */
const storedOf = (kind: string, { jti: _jti, ...stored }: AdapterPayload): AdapterPayload => {
  if (kind !== 'Interaction' || stored.session === undefined) return stored;
  const { cookie: _cookie, ...session } = stored.session;
  return { ...stored, session };
};

/** Self-registered apps expire soon at first; an operator's app never does (`null`). */
const secondsOf = (kind: string, id: string, expiresIn: number | undefined): number | null => {
  if (kind === 'Client') return identificationOf(id) === 'registration' ? REGISTERED_SECONDS : null;
  return expiresIn !== undefined && Number.isFinite(expiresIn) ? expiresIn : null;
};

type Row = { readonly payload: AdapterPayload; readonly consumed: number | null };

const UPSERT = `
  insert into oauth.record (kind, key, connection_id, uid, payload, expires_at)
  values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
  on conflict (kind, key) do update set connection_id = excluded.connection_id, uid = excluded.uid,
    payload = excluded.payload, expires_at = excluded.expires_at`;

/** A refresh token within its grace period does not count as consumed; other records do. */
const SELECT = `
  select payload, case when consumed_at is null
      or (kind = 'RefreshToken' and consumed_at > now() - make_interval(secs => ${REFRESH_GRACE_SECONDS})) then null
    else floor(extract(epoch from consumed_at))::int end as consumed
  from oauth.record where kind = $1 and (expires_at is null or expires_at > now())`;

/**
 * Events come before rows: a token follows the event of its connection, and its deletion follows the event of the end.
 * A crash in between leaves rows that no check accepts.
 */
export const createAdapter =
  (pool: Database, rights: TokenRights) =>
  (kind: string): Adapter => {
    const findWhere = async (condition: string, id: string): Promise<Row | undefined> =>
      (await pool.query<Row>(`${SELECT} and ${condition} = $2`, [kind, sha256Of(id)])).rows[0];
    const shown = ({ payload, consumed }: Row): AdapterPayload =>
      consumed === null ? payload : { ...payload, consumed };

    return {
      upsert: async (id, payload, expiresIn) => {
        const stored = storedOf(kind, payload);
        const { uid } = payload;
        const grantId = kind === 'Grant' ? id : payload.grantId;
        const connectionId =
          OF_CONNECTION.has(kind) && grantId !== undefined ? connectionIdOf(grantId) : null;
        const isToken = kind === 'AccessToken' || kind === 'RefreshToken';
        if (isToken && (connectionId === null || !(await rights.admit(connectionId)))) {
          throw new errors.InvalidGrant('the connection has ended');
        }
        await pool.query(UPSERT, [
          kind,
          sha256Of(id),
          connectionId,
          uid === undefined ? null : sha256Of(uid),
          JSON.stringify(stored),
          secondsOf(kind, id, expiresIn),
        ]);
      },
      find: async (id) => {
        const row = await findWhere('key', id);
        if (!row) return undefined;
        // A client's record has no `jti`; its metadata holds its id.
        return kind === 'Client' ? shown(row) : { ...shown(row), jti: id };
      },
      // Tokens refer to sessions by uid; the session id is not stored in plain text.
      findByUid: async (uid) => {
        const row = await findWhere('uid', uid);
        return row && shown(row);
      },
      findByUserCode: async () => undefined,
      consume: async (id) => {
        const { rowCount } = await pool.query(
          'update oauth.record set consumed_at = now() where kind = $1 and key = $2 and consumed_at is null',
          [kind, sha256Of(id)],
        );
        // Only one of two concurrent exchanges of a code gets tokens.
        if (rowCount === 0 && kind === 'AuthorizationCode') {
          throw new errors.InvalidGrant('authorization code already consumed');
        }
      },
      destroy: async (id) => {
        await pool.query('delete from oauth.record where kind = $1 and key = $2', [kind, sha256Of(id)]);
      },
      revokeByGrantId: async (grantId) => {
        const connectionId = connectionIdOf(grantId);
        await rights.end(connectionId, isRevocation() ? 'member' : 'token_reused');
        await pool.query('delete from oauth.record where kind = $1 and connection_id = $2', [
          kind,
          connectionId,
        ]);
      },
    };
  };

/** Days after its last live connection for which a self-registered app is kept. */
const CLIENT_KEPT_DAYS = 30;

/** Extends apps with a live connection; returns how many. */
export const keepUsedClients = async (pool: Database): Promise<number> => {
  const { rowCount } = await pool.query(
    `update oauth.record set expires_at = now() + make_interval(days => $1)
     where kind = 'Client' and expires_at between now() and now() + make_interval(days => $1 - 1)
       and payload->>'client_id' in (
         select app->>'id' from access.connection where not ended and expires_at > now())`,
    [CLIENT_KEPT_DAYS],
  );
  return rowCount ?? 0;
};

const DELETED_TOGETHER_MAX = 10_000;

export const deleteDeadRecords = async (pool: Database): Promise<number> => {
  const { rowCount } = await pool.query(
    `delete from oauth.record where (kind, key) in (
       select kind, key from oauth.record
       left join access.connection using (connection_id)
       where record.expires_at <= now() or connection.ended
       limit $1)`,
    [DELETED_TOGETHER_MAX],
  );
  return rowCount ?? 0;
};
