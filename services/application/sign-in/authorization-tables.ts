import { readFileSync } from 'node:fs';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { Refusal } from '#contracts/errors.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { sha256Of } from '../access/key-format.ts';
import { type ClientMetadata, identificationOf, prepareMetadata } from './clients.ts';

const SCHEMA = readFileSync(new URL('./authorization-schema.sql', import.meta.url), 'utf8');

export const createAuthorizationTables = (pool: Database): Promise<void> =>
  installSchema(pool, { lock: ADVISORY_LOCKS.oauthSchema, sql: SCHEMA });

/** It has no secret: every app proves itself with PKCE. */
export type OperatorsClient = {
  readonly client_id: string;
  readonly name: string;
  readonly redirect_uris: readonly string[];
};

const CLIENT_ID = /^[\w.-]{1,100}$/;

const clientOf = ({ client_id = '', client_name = '', redirect_uris }: ClientMetadata): OperatorsClient => ({
  client_id,
  name: client_name,
  redirect_uris,
});

/**
 * Replaces the same id. Throws `invalid_input` for an id of documents or registrations, and for forbidden addresses.
 */
export const addClient = async (
  pool: Database,
  { client_id, name, redirect_uris }: OperatorsClient,
): Promise<OperatorsClient> => {
  if (!CLIENT_ID.test(client_id) || identificationOf(client_id) !== 'operator') {
    throw new Refusal(
      'invalid_input',
      'Use an id of 1 to 100 letters, digits, dots, dashes and underscores that does not begin with reg_.',
    );
  }
  const prepared = prepareMetadata({
    client_id,
    client_name: name,
    redirect_uris,
    grant_types: ['authorization_code', 'refresh_token'],
  });
  if ('fault' in prepared) throw new Refusal('invalid_input', prepared.fault);
  await createAuthorizationTables(pool);
  await pool.query(
    `insert into oauth.record (kind, key, payload) values ('Client', $1, $2)
     on conflict (kind, key) do update set payload = excluded.payload, expires_at = null`,
    [sha256Of(client_id), JSON.stringify(prepared.metadata)],
  );
  return clientOf(prepared.metadata);
};

export const listClients = async (pool: Database): Promise<readonly OperatorsClient[]> => {
  await createAuthorizationTables(pool);
  const { rows } = await pool.query<{ payload: ClientMetadata }>(
    `select payload from oauth.record where kind = 'Client' and expires_at is null
     order by payload->>'client_id' collate "C"`,
  );
  return rows.map(({ payload }) => clientOf(payload));
};

/** Its connections go on until they end, without new ones or new tokens. */
export const removeClient = async (
  pool: Database,
  clientId: string,
): Promise<{ readonly removed: boolean }> => {
  await createAuthorizationTables(pool);
  const { rowCount } = await pool.query("delete from oauth.record where kind = 'Client' and key = $1", [
    sha256Of(clientId),
  ]);
  return { removed: rowCount !== 0 };
};
