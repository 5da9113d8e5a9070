import { z } from 'zod';
import {
  type ActiveKey,
  type ApiKeysState,
  apiKeys,
  revokeApiKey as decideToRevoke,
  revokeUnusedApiKeys as decideToRevokeUnused,
  rotateApiKey as decideToRotate,
  issueApiKey,
  keyIdOf,
} from '#domain/workspace/api-keys.ts';
import { issuedText } from '#projections/api-keys/project.ts';
import {
  type ApiKeyRow,
  apiKeyText,
  findApiKey,
  listApiKeys as readApiKeys,
} from '#projections/queries/api-keys.ts';
import { findNames } from '#projections/workspaces/read.ts';
import { type ApiKeyEvent, apiKeysStream } from '#contracts/events/workspace/workspace.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import { readKnownKeys } from '#application/access/access-tables.ts';
import { lastFourOf, sha256Of } from '#application/access/key-format.ts';
import {
  ACTIVE_KEYS_MAX,
  ApiKey,
  CreateApiKey,
  CreatedApiKey,
  RevokeApiKey,
  RevokeUnusedApiKeys,
  RevokedApiKey,
  RevokedUnusedApiKeys,
  RotateApiKey,
} from '#contracts/resources/workspace/api-key.ts';
import { SCOPES } from '#contracts/values/access.ts';
import { readLastUses } from '#application/access/key-usage.ts';
import type { OperationDependencies } from './dependencies/dependencies.ts';
import { memberNameOf } from './dependencies/member-names.ts';
import { type Reply, pageReply, writtenText } from './endpoint/reply.ts';
import { type Call, endpoint } from './endpoint/define-endpoint.ts';
import { KEY_ID, WORKSPACE_ID, apiKey, createdApiKey } from './endpoint/examples.ts';
import { apiKeyParams, noQuery, pageQuery } from './endpoint/parameters.ts';
import { removalEndpoint } from './endpoint/removal-endpoint.ts';
import { workspaceRead, workspaceWrite } from './endpoint/kinds.ts';

type NameDependencies = Pick<OperationDependencies, 'memberVault' | 'log'>;

const creatorNameOf = async (
  dependencies: NameDependencies,
  workspaceId: string,
  { member_id: memberId, name, sealed }: ApiKeyRow,
): Promise<string | null> =>
  name === null ? null : memberNameOf(dependencies, { workspaceId, memberId, name, sealed });

export const keyTexts = async (
  dependencies: NameDependencies,
  workspaceId: string,
  rows: readonly ApiKeyRow[],
): Promise<readonly string[]> => {
  const names = new Map<string, string | null>();
  for (const row of rows) {
    if (names.has(row.member_id)) continue;
    names.set(row.member_id, await creatorNameOf(dependencies, workspaceId, row));
  }
  return rows.map((row) => apiKeyText(row, names.get(row.member_id) ?? null));
};

type TextDependencies = NameDependencies & Pick<OperationDependencies, 'db'>;

/** `null` also after a failed read: it must not lose a key whose text is shown only once. */
const readCreatorName = async (dependencies: TextDependencies, key: ActiveKey): Promise<string | null> => {
  const { workspace_id: workspaceId, member_id: memberId } = key;
  try {
    const names = await findNames(dependencies.db, workspaceId, memberId);
    return names && (await memberNameOf(dependencies, { workspaceId, memberId, ...names }));
  } catch (error) {
    dependencies.log.warn(
      { err: error, member_id: memberId },
      'member name not readable; replied without it',
    );
    return null;
  }
};

export const writtenKeyText = (
  dependencies: TextDependencies,
  { key, isShown }: { readonly key: ActiveKey; readonly isShown: boolean },
): Promise<string> =>
  writtenText(
    { isShown, log: dependencies.log },
    async () => {
      const row = await findApiKey(dependencies.db, key.workspace_id, key.key_id);
      return row && apiKeyText(row, await creatorNameOf(dependencies, key.workspace_id, row));
    },
    async () => {
      const { issued_at, member_id } = key;
      const row = { issued: issuedText(key), issued_at, revoked_at: null, member_id, last_used_at: null };
      return apiKeyText(row, await readCreatorName(dependencies, key));
    },
  );

type KeyCall = Call<{ readonly ws: string }, unknown, unknown>;

export const runKeyCommand = (call: KeyCall, decision: (state: ApiKeysState) => readonly ApiKeyEvent[]) =>
  call.execute({
    stream: apiKeysStream(call.params.ws),
    decider: apiKeys,
    decision,
    shownIn: ['api-keys'],
    isShared: true,
  });

/** The id follows from the command id. The text is random: one derived from stored values could be recomputed. */
const createKey = async (
  { params, caller, commandId, mayRepeat }: KeyCall,
  dependencies: OperationDependencies,
  rotatedKeyId: string | null,
) => {
  const text = dependencies.keyFormat.create();
  const key_id = keyIdOf(commandId);
  // Only an earlier attempt can have created the key.
  const keyIds = [...(mayRepeat ? [key_id] : []), ...(rotatedKeyId === null ? [] : [rotatedKeyId])];
  const known_keys = await readKnownKeys(dependencies.pool, params.ws, keyIds);
  return {
    text,
    input: {
      workspace_id: params.ws,
      key_id,
      sha256: sha256Of(text),
      last_four: lastFourOf(text),
      member_id: caller.memberId,
      grantable: [...caller.scopes],
      known_keys,
      at: dependencies.clock.now().toISOString(),
    },
  };
};

/** Only this reply holds the plaintext. `rotatedKeyId`: the key that it replaces; `null` for none. */
export const issueKey = async (
  call: KeyCall,
  dependencies: OperationDependencies,
  rotatedKeyId: string | null,
  decide: (
    input: Awaited<ReturnType<typeof createKey>>['input'],
  ) => (state: ApiKeysState) => readonly ApiKeyEvent[],
): Promise<Reply> => {
  const { text, input } = await createKey(call, dependencies, rotatedKeyId);
  const { state, position, isShown } = await runKeyCommand(call, decide(input));
  const key = state.keys.get(input.key_id);
  if (!key) throw new Error('issued API key is missing from the state');
  const record = await writtenKeyText(dependencies, { key, isShown });
  const data = appendFields(record, { api_key: JSON.stringify(text) });
  return { data, asOf: null, position, shownOnce: { keyId: input.key_id } };
};

export const createApiKey = endpoint({
  ...workspaceWrite,
  path: '/v1/workspaces/{ws}/api-keys',
  operationId: 'createApiKey',
  tag: 'API keys',
  scope: 'apiKeys:write',
  summary: 'Create an API key',
  description: `Only this reply shows the key itself. It belongs to the member of the calling key; scopes beyond the caller's are refused with 403. 409 when the workspace has ${ACTIVE_KEYS_MAX} active keys.`,
  body: { schema: CreateApiKey, example: { name: createdApiKey.name, scopes: ['brands:read', 'me:read'] } },
  reply: { status: 201, shape: 'record', data: CreatedApiKey, example: createdApiKey },
  reads: [],
  handler: (call, dependencies) => {
    const { name } = call.body;
    const scopes = SCOPES.filter((scope) => call.body.scopes.includes(scope));
    return issueKey(call, dependencies, null, (input) => issueApiKey({ ...input, name, scopes }));
  },
});

export const listApiKeys = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/api-keys',
  operationId: 'listApiKeys',
  tag: 'API keys',
  scope: 'apiKeys:read',
  summary: 'List API keys',
  description:
    "The workspace's keys, newest first, revoked ones included. The keys themselves are never shown.",
  query: z.strictObject(pageQuery),
  reply: { status: 200, shape: 'paged', data: ApiKey, example: [apiKey] },
  reads: ['api-keys', 'workspaces'],
  handler: async ({ params, page }, dependencies) => {
    const { rows, next } = await readApiKeys(dependencies.db, params.ws, page);
    const items = await keyTexts(dependencies, params.ws, rows);
    return pageReply({ items, next }, null);
  },
});

export const revokeApiKey = removalEndpoint({
  path: '/v1/workspaces/{ws}/api-keys/{keyId}',
  operationId: 'revokeApiKey',
  tag: 'API keys',
  scope: 'apiKeys:write',
  summary: 'Revoke an API key',
  description:
    'The next request with the key is refused with 401. Takes an empty object as body. `removed` is false when the workspace had no such active key. The calling key may revoke itself.',
  params: apiKeyParams,
  body: RevokeApiKey,
  paramsExample: { ws: WORKSPACE_ID, keyId: KEY_ID },
  reply: { data: RevokedApiKey, example: { key_id: KEY_ID, workspace_id: WORKSPACE_ID } },
  handler: async (call, dependencies) => {
    const { ws: workspace_id, keyId: key_id } = call.params;
    const at = dependencies.clock.now().toISOString();
    const decision = decideToRevoke({ workspace_id, key_id, reason: 'revoked', at });
    const { events, position } = await runKeyCommand(call, decision);
    return { target: { key_id, workspace_id }, removed: events.length > 0, position };
  },
});

export const revokeUnusedApiKeys = endpoint({
  ...workspaceWrite,
  path: '/v1/workspaces/{ws}/api-keys/revoke-unused',
  operationId: 'revokeUnusedApiKeys',
  tag: 'API keys',
  scope: 'apiKeys:write',
  summary: 'Revoke unused API keys',
  description:
    'Revokes every active key that no request has used for the given number of days; a key that was never used counts from its creation. This request is a use of the calling key.',
  body: { schema: RevokeUnusedApiKeys, example: { days: 90 } },
  reply: {
    status: 200,
    shape: 'record',
    data: RevokedUnusedApiKeys,
    example: {
      workspace_id: WORKSPACE_ID,
      days: 90,
      revoked: [{ key_id: KEY_ID, name: 'Weekly export', last_used_at: '2026-06-02T07:14:09.251Z' }],
    },
  },
  reads: [],
  handler: async (call, dependencies) => {
    const workspace_id = call.params.ws;
    const { days } = call.body;
    await dependencies.keyUsage.flush();
    const lastUses = await readLastUses(dependencies.pool, workspace_id);
    const at = dependencies.clock.now().toISOString();
    const decide = decideToRevokeUnused({ workspace_id, days, lastUses, at });
    // The state after the command lacks the names of revoked keys.
    let { keys } = apiKeys.initial;
    const { events, position } = await runKeyCommand(call, (state) => {
      keys = state.keys;
      return decide(state);
    });
    const revoked = events.map(({ data: { key_id } }) => ({
      key_id,
      name: keys.get(key_id)?.name,
      last_used_at: lastUses.get(key_id) ?? null,
    }));
    return { data: JSON.stringify({ workspace_id, days, revoked }), asOf: null, position };
  },
});

export const rotateApiKey = endpoint({
  method: 'POST',
  path: '/v1/workspaces/{ws}/api-keys/{keyId}/rotate',
  operationId: 'rotateApiKey',
  tag: 'API keys',
  scope: 'apiKeys:write',
  summary: 'Rotate an API key',
  description:
    "Revokes a key and issues a replacement with the same name and scopes, which only this reply shows. Takes an empty object as body. The replacement belongs to the member of the calling key; a key with scopes beyond the caller's is refused with 403, a revoked one with 409.",
  params: apiKeyParams,
  query: noQuery,
  body: { schema: RotateApiKey, example: {} },
  paramsExample: { ws: WORKSPACE_ID, keyId: KEY_ID },
  reply: {
    status: 201,
    shape: 'record',
    data: CreatedApiKey,
    example: { ...createdApiKey, key_id: 'key_0v6w2r9y5z8m3x1q', replaces: KEY_ID },
  },
  errors: ['not_found', 'conflict'],
  corpus: false,
  reads: [],
  handler: (call, dependencies) =>
    issueKey(call, dependencies, call.params.keyId, (input) =>
      decideToRotate({ ...input, rotated_key_id: call.params.keyId }),
    ),
});
