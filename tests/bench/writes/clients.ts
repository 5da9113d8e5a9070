import { randomUUID } from 'node:crypto';
import { type ApiKeyIssued, apiKeysStream } from '#contracts/events/workspace/workspace.ts';
import { createKeyText, sha256Of } from '#application/access/api-key-format.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';

const KEYS_LISTED = 50;
export const METADATA = {
  $correlationId: 'bench',
  $causationId: 'bench',
  request_id: 'bench',
  actor: { kind: 'service', id: 'bench' },
  schema_version: 1,
} as const;
export const SCOPES = ['brands:read', 'me:read', 'tracking:write', 'apiKeys:read', 'apiKeys:write'];

export interface Client {
  readonly workspaceId: string;
  readonly key: string;
}

/** Creates workspaces with one key each, directly in the access tables. */
export async function addClients(database: Database, count: number): Promise<readonly Client[]> {
  const clients = Array.from({ length: count }, () => ({
    workspaceId: `ws_${randomUUID()}`,
    key: createKeyText(),
  }));
  const ids = clients.map(({ workspaceId }) => workspaceId);
  await database.query(`insert into access.workspace select unnest($1::text[]), 'pro'`, [ids]);
  await database.query(`insert into access.member select unnest($1::text[]), 'mem_bench', 'owner'`, [ids]);
  await database.query(
    `insert into access.api_key (sha256, key_id, workspace_id, member_id, scopes)
     select sha256, 'key_' || left(sha256, 16), workspace_id, 'mem_bench', $3
     from unnest($1::text[], $2::text[]) as k(sha256, workspace_id)`,
    [clients.map(({ key }) => sha256Of(key)), ids, SCOPES],
  );
  return clients;
}

/** Records keys as events, so that the list of keys shows them. */
export async function issueKeys(eventStore: EventStore, workspaceId: string): Promise<void> {
  const events = Array.from(
    { length: KEYS_LISTED },
    (_, index): ApiKeyIssued => ({
      type: 'ApiKeyIssued',
      data: {
        workspace_id: workspaceId,
        key_id: `key_listed${index}`,
        name: `Key ${index}`,
        sha256: sha256Of(`listed ${index}`),
        last_four: 'abcd',
        scopes: ['brands:read', 'tracking:read'],
        member_id: 'mem_bench',
        issued_at: new Date(Date.now() + index).toISOString(),
      },
    }),
  );
  await eventStore.append(apiKeysStream(workspaceId), -1n, events, METADATA, randomUUID());
}
