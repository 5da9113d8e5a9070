import { z } from 'zod';
import { Count, Timestamp, WorkspaceId } from '#contracts/values/primitives.ts';
import { SCOPES } from '#contracts/values/access.ts';
import { nameText } from '#contracts/values/text.ts';

export const ACTIVE_KEYS_MAX = 200;
export const KEY_NAME_LENGTH_MAX = 100;
export const UNUSED_DAYS_MAX = 365;

export const ApiKeyId = z
  .string()
  .regex(/^key_[0-9a-z]{1,40}$/, 'an id of an API key')
  .meta({ description: 'Id of the key, not the key itself; `{keyId}` in paths.' });

const ScopeName = z
  .enum(SCOPES)
  .meta({ id: 'Scope', description: 'What a key may do; each endpoint requires one.' });
const Name = nameText(KEY_NAME_LENGTH_MAX).meta({ description: 'Purpose of the key.' });

export const CreateApiKey = z
  .strictObject({
    name: Name,
    scopes: z.array(ScopeName).min(1).max(SCOPES.length).meta({
      description: 'Scopes of the key: a subset of those of the calling key.',
    }),
  })
  .meta({ id: 'CreateApiKey', description: 'Name and scopes of the new key.' });

export const RotateApiKey = z.strictObject({}).meta({ id: 'RotateApiKey', description: 'An empty object.' });

export const RevokeApiKey = z.strictObject({}).meta({ id: 'RevokeApiKey', description: 'An empty object.' });

const UnusedDays = z
  .int()
  .min(1)
  .max(UNUSED_DAYS_MAX)
  .meta({ description: 'Minimum days without use, each of 24 hours.' });

export const RevokeUnusedApiKeys = z
  .strictObject({ days: UnusedDays })
  .meta({ id: 'RevokeUnusedApiKeys', description: 'How long unused keys may stay active.' });

const Member = z.strictObject({
  id: z.string().meta({ description: 'Stable id of the member.' }),
  name: z.string().nullable().meta({ description: 'Name to show; null for an erased member.' }),
});

const LastUsedAt = Timestamp.nullable().meta({
  description: 'Last use by a request, written in batches, so up to 30 seconds late. Null when never used.',
});

const apiKeyShape = {
  key_id: ApiKeyId,
  workspace_id: WorkspaceId,
  name: Name,
  last_four: z.string().length(4).meta({ description: 'The last characters of the key, to recognise it.' }),
  scopes: z.array(ScopeName).meta({
    description: 'Granted scopes. The present role of the member may allow fewer.',
  }),
  status: z
    .enum(['active', 'revoked'])
    .meta({ id: 'ApiKeyStatus', description: 'A revoked key is refused from the next request on.' }),
  created_at: Timestamp.meta({ description: 'When it was issued.' }),
  created_by: Member.meta({ description: 'The member who owns the key.' }),
  replaces: ApiKeyId.nullable().meta({
    description: 'The key that this one replaced by rotation; otherwise null.',
  }),
  last_used_at: LastUsedAt,
  revoked_at: Timestamp.nullable().meta({ description: 'When it was revoked; null while it is active.' }),
} as const;

export const ApiKey = z
  .strictObject(apiKeyShape)
  .meta({ id: 'ApiKey', description: 'A key as it is listed, without its text.' });
export type ApiKey = z.infer<typeof ApiKey>;

export const CreatedApiKey = z
  .strictObject({
    ...apiKeyShape,
    api_key: z.string().meta({ description: 'The key itself. Shown only in this reply: store it now.' }),
  })
  .meta({ id: 'CreatedApiKey', description: 'A new key with its plaintext.' });

export const RevokedApiKey = z
  .strictObject({
    key_id: ApiKeyId,
    workspace_id: WorkspaceId,
    removed: z.boolean().meta({ description: 'False when the workspace had no such active key.' }),
  })
  .meta({ id: 'RevokedApiKey', description: 'The result of revoking a key.' });

export const RevokedUnusedApiKeys = z
  .strictObject({
    workspace_id: WorkspaceId,
    days: UnusedDays,
    revoked: z
      .array(z.strictObject({ key_id: ApiKeyId, name: Name, last_used_at: LastUsedAt }))
      .meta({ description: 'The keys that were revoked, oldest first.' }),
  })
  .meta({ id: 'RevokedUnusedApiKeys', description: 'Which unused keys were revoked.' });

const MemberRole = z.enum(['viewer', 'editor', 'admin', 'owner']).meta({
  id: 'MemberRole',
  description: 'Present role of the member; it limits the scopes of every key of the member.',
});

export const ListedMember = z
  .strictObject({
    ...Member.shape,
    role: MemberRole,
    added_at: Timestamp.meta({ description: 'When the member was added.' }),
  })
  .meta({ id: 'Member', description: 'A member of the workspace.' });

export const Me = z
  .strictObject({
    workspace_id: z.string().meta({ description: 'Id of the workspace; stands for `{ws}` in paths.' }),
    workspace_name: z
      .string()
      .nullable()
      .meta({ description: 'Name to show; null while it is not known yet.' }),
    member: Member.meta({ description: 'The member who owns the calling key or signed in.' }),
    key_id: z.string().meta({ description: 'Id of the calling key, or of the sign-in that calls.' }),
    role: MemberRole,
    plan: z.enum(['free', 'pro', 'business', 'enterprise']).meta({
      description: 'Plan of the workspace; it decides the slots and the requests per minute.',
    }),
    scopes: z.array(ScopeName).meta({ description: 'What this key may do now.' }),
    tracked_brands: z
      .strictObject({
        used: Count.meta({ description: 'Brands that the workspace tracks.' }),
        slots: Count.meta({
          description: 'Brands that the plan allows to track; one more is refused with 402.',
        }),
      })
      .meta({ description: 'Slots of the plan and how many are in use.' }),
    requests_per_minute: Count.meta({ description: 'Limit of the plan, over all keys of the workspace.' }),
  })
  .meta({ id: 'Me', description: 'Who is calling, and what it may do. Clients read this first.' });
