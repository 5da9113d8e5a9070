import { type Adapter, type AdapterPayload, errors, Provider } from 'oidc-provider';
import { sha256Of } from '#application/access/api-key-format.ts';
import { identificationOf, REGISTERED_SECONDS } from '#application/sign-in/clients.ts';
import { connectionIdOf } from '#domain/workspace/connection.ts';
import type { Database } from '#platform/postgres/pool.ts';

/**
 * Seconds in which a refresh token that was exchanged is accepted again. A client whose reply was lost repeats the
 * exchange; a later use is theft, and ends the connection.
 */
export const REFRESH_GRACE_SECONDS = 30;

/** Kinds of records that belong to a connection. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'AccessToken',
  'AuthorizationCode',
  'Grant',
  'RefreshToken',
]);

/** Connections, as far as the store of tokens needs them. */
export type TokenRights = {
  /** Records the first token. Returns false when the connection has ended or never existed. */
  admit(connectionId: string): Promise<boolean>;
  /** Ends the connection in the log and in every process. */
  end(connectionId: string, reason: 'member' | 'token_reused'): Promise<void>;
};

/** True while an app gives its own tokens back (RFC 7009). Otherwise a grant ends because a token was used twice. */
const isRevocation = (): boolean => Provider.ctx?.oidc.route === 'revocation';

/** Returns what is stored of a record: neither its own id, nor that of the browser's session. */
const storedOf = (kind: string, { jti: _jti, ...stored }: AdapterPayload): AdapterPayload => {
  if (kind !== 'Interaction' || stored.session === undefined) return stored;
  const { cookie: _cookie, ...session } = stored.session;
  return { ...stored, session };
};

/** Returns the lifetime in seconds. Apps that registered themselves live shortly at first; an operator's have no end. */
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

/** A refresh token within its grace is not shown as consumed. Other records are consumed at once. */
const SELECT = `
  select payload, case when consumed_at is null
      or (kind = 'RefreshToken' and consumed_at > now() - make_interval(secs => ${REFRESH_GRACE_SECONDS})) then null
    else floor(extract(epoch from consumed_at))::int end as consumed
  from oauth.record where kind = $1 and (expires_at is null or expires_at > now())`;

/**
 * Creates the storage of the provider in Postgres, for one kind of record. Events come before rows: a token is stored
 * after its connection is recorded, and deleted after its end is recorded. A crash between leaves rows that no check
 * accepts.
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
        // A client's record has no `jti`; its id is part of its metadata.
        return kind === 'Client' ? shown(row) : { ...shown(row), jti: id };
      },
      // Only sessions are found by uid, by which a token refers to them. Their id is not stored in plain text.
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
        // When one code is exchanged twice at once, one exchange gets tokens. Refresh tokens have their grace.
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

/** Days for which an app that registered itself is kept after its last live connection. */
const CLIENT_KEPT_DAYS = 30;

/** Keeps the apps that have a live connection. Returns how many were kept for longer. */
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

/** Maximum expired records deleted per statement. */
const DELETED_TOGETHER_MAX = 10_000;

/** Deletes records that have expired, and those of ended connections. Returns how many were deleted. */
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
