import { z } from 'zod';
import { Count } from '#contracts/values/primitives.ts';
import { SCOPES } from '#contracts/values/access.ts';

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
