import { z } from 'zod';
import { secret } from '#platform/settings.ts';

export const signInSettings = {
  SIGN_IN: z
    .enum(['codes', 'upstream'])
    .default('codes')
    .describe('How members sign in: `upstream` turns codes by e-mail off. Invitation links always work.'),
  UPSTREAM_ISSUER: z
    .url()
    .optional()
    .describe(
      "Issuer of the organisation's OpenID provider; it signs in existing members by verified address.",
    ),
  UPSTREAM_CLIENT_ID: z.string().min(1).optional().describe('Client id at that provider.'),
  UPSTREAM_CLIENT_SECRET: secret(z.string().min(1).optional(), 'Client secret at that provider.'),
} as const;
