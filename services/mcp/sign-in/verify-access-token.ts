import { sha256Of } from '#application/access/key-format.ts';
import { type Caller, createLeaseCache } from '#application/access/key-lease-cache.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';

/** `null` when the token is unknown, expired or of an ended connection. Never accepts API keys. */
export type VerifyAccessToken = (token: string) => Promise<Caller | null>;

const TOKEN_MAX_LENGTH = 256;

/** A token's scopes are limited by its connection and by the member's present role. */
const FIND = `
  select record.key as sha256, connection_id as key_id, workspace_id, member_id, role, plan,
    array(select unnest(connection.scopes)
      intersect select unnest(string_to_array(record.payload->>'scope', ' '))) as scopes
  from oauth.record
  join access.connection using (connection_id)
  join access.member using (workspace_id, member_id)
  join access.workspace using (workspace_id)
  where record.kind = 'AccessToken' and record.key = any($1::text[]) and record.expires_at > now()
    and record.payload->>'aud' = $2
    and not connection.ended and connection.expires_at > now()`;

/** Rejects tokens for another resource. `now`: the monotonic clock in ms. */
export const createVerifyAccessToken = (
  db: ReadDatabase,
  resource: string,
  now?: () => number,
): VerifyAccessToken => {
  const callers = createLeaseCache(db, { kind: 'connection', sql: FIND, values: [resource] }, now);
  return async (token) => (token.length > TOKEN_MAX_LENGTH ? null : callers.find(sha256Of(token)));
};
