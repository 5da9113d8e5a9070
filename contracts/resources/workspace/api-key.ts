import { z } from 'zod';
import { Count, Timestamp } from '#contracts/values/primitives.ts';
import { SCOPES } from '#contracts/values/access.ts';
import { nameText } from '#contracts/values/text.ts';

export const ACTIVE_KEYS_MAX = 200;
export const KEY_NAME_LENGTH_MAX = 100;
export const UNUSED_DAYS_MAX = 365;

export const ApiKeyId = z.string().regex(/^key_[0-9a-z]{1,40}$/, 'an id of an API key');

const Name = nameText(KEY_NAME_LENGTH_MAX).meta({ description: 'What the key is for.' });

export const CreateApiKey = z
  .strictObject({
    name: Name,
    scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).meta({
      description: 'Scopes of the key: a subset of those of the calling key.',
    }),
  })
  .meta({ id: 'CreateApiKey' });

export const RotateApiKey = z.strictObject({}).meta({ id: 'RotateApiKey', description: 'An empty object.' });

export const RevokeApiKey = z.strictObject({}).meta({ id: 'RevokeApiKey', description: 'An empty object.' });

export const RevokeUnusedApiKeys = z
  .strictObject({
    days: z
      .int()
      .min(1)
      .max(UNUSED_DAYS_MAX)
      .meta({ description: 'Minimum days without use, each of 24 hours.' }),
  })
  .meta({ id: 'RevokeUnusedApiKeys' });

const apiKeyShape = {
  key_id: ApiKeyId,
  workspace_id: z.string(),
  name: Name,
  last_four: z.string().length(4).meta({ description: 'The last characters of the key, to recognise it.' }),
  scopes: z.array(z.enum(SCOPES)).meta({
    description: 'Granted scopes. The present role of the member may allow fewer.',
  }),
  status: z.enum(['active', 'revoked']),
  created_at: Timestamp,
  created_by: z
    .strictObject({ id: z.string(), name: z.string().nullable() })
    .meta({ description: 'The member who owns the key. The name is null for an erased member.' }),
  replaces: ApiKeyId.nullable().meta({
    description: 'The key that this one replaced by rotation; otherwise null.',
  }),
  last_used_at: Timestamp.nullable().meta({
    description: 'Last use by a request, written in batches, so up to 30 seconds late. Null when never used.',
  }),
  revoked_at: Timestamp.nullable(),
} as const;

export const ApiKey = z.strictObject(apiKeyShape).meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

export const CreatedApiKey = z
  .strictObject({
    ...apiKeyShape,
    api_key: z.string().meta({ description: 'The key itself. Shown only in this reply: store it now.' }),
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

/** Clients read this first. */
export const Me = z
  .strictObject({
    workspace_id: z.string().meta({ description: 'Stands for `{ws}` in paths.' }),
    workspace_name: z.string().nullable(),
    member: z.strictObject({ id: z.string(), name: z.string().nullable() }),
    key_id: z.string(),
    role: z.enum(['viewer', 'editor', 'admin', 'owner']),
    plan: z.enum(['free', 'pro', 'business', 'enterprise']),
    scopes: z.array(z.enum(SCOPES)).meta({ description: 'What this key may do now.' }),
    tracked_brands: z
      .strictObject({ used: Count, slots: Count })
      .meta({ description: 'Slots of the plan and how many are in use.' }),
    requests_per_minute: Count,
  })
  .meta({ id: 'Me' });
