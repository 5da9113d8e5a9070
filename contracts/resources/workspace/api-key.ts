import { z } from 'zod';
import { Timestamp } from '#contracts/values/primitives.ts';
import { SCOPES } from '#contracts/values/scopes.ts';
import { nameText } from '#contracts/values/text.ts';

/** Schemas of API keys (specification, parts "Endpoints" and "Authentication"). */

/** Maximum active keys per workspace. */
export const ACTIVE_KEYS_MAX = 200;
export const KEY_NAME_LENGTH_MAX = 100;
export const UNUSED_DAYS_MAX = 365;

export const ApiKeyId = z.string().regex(/^key_[0-9a-z]{1,40}$/, 'an id of an API key');

const Name = nameText(KEY_NAME_LENGTH_MAX).meta({ description: 'What the key is for.' });

export const CreateApiKey = z
  .strictObject({
    name: Name,
    scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).meta({
      description: 'What the key may do: a subset of the scopes of the calling key.',
    }),
  })
  .meta({ id: 'CreateApiKey' });

export const RotateApiKey = z.strictObject({}).meta({ id: 'RotateApiKey', description: 'An empty object.' });

export const RevokeApiKey = z.strictObject({}).meta({ id: 'RevokeApiKey', description: 'An empty object.' });

export const RevokeUnusedApiKeys = z
  .strictObject({
    days: z.int().min(1).max(UNUSED_DAYS_MAX).meta({ description: 'Unused for so many days, of 24 hours.' }),
  })
  .meta({ id: 'RevokeUnusedApiKeys' });

const apiKeyShape = {
  key_id: ApiKeyId,
  workspace_id: z.string(),
  name: Name,
  last_four: z.string().length(4).meta({ description: 'The last characters of the key, to tell it by.' }),
  scopes: z.array(z.enum(SCOPES)).meta({
    description: "What was granted. The role of the key's member may allow less of it by now.",
  }),
  status: z.enum(['active', 'revoked']),
  created_at: Timestamp,
  created_by: z
    .strictObject({ id: z.string(), name: z.string().nullable() })
    .meta({ description: 'The member whose key it is. The name is null for an erased member.' }),
  replaces: ApiKeyId.nullable().meta({ description: 'The key that this one was issued for by rotation.' }),
  last_used_at: Timestamp.nullable().meta({
    description:
      'When a request last used it. Written down in batches: up to half a minute behind. Null when never used.',
  }),
  revoked_at: Timestamp.nullable(),
} as const;

export const ApiKey = z.strictObject(apiKeyShape).meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

export const CreatedApiKey = z
  .strictObject({
    ...apiKeyShape,
    api_key: z.string().meta({ description: 'The key itself. It is in this answer only: keep it now.' }),
  })
  .meta({ id: 'CreatedApiKey' });

export const RevokedApiKey = z
  .strictObject({
    key_id: ApiKeyId,
    workspace_id: z.string(),
    removed: z.boolean().meta({ description: 'False when the workspace had no such active key.' }),
  })
  .meta({ id: 'RevokedApiKey' });

export const RevokedUnusedApiKeys = z
  .strictObject({
    workspace_id: z.string(),
    days: z.int().min(1).max(UNUSED_DAYS_MAX),
    revoked: z
      .array(z.strictObject({ key_id: ApiKeyId, name: Name, last_used_at: Timestamp.nullable() }))
      .meta({ description: 'The keys that were revoked, oldest first.' }),
  })
  .meta({ id: 'RevokedUnusedApiKeys' });
