import { z } from 'zod';
import {
  Changing,
  LISTEN_HOST,
  Port,
  TRUSTED_PROXIES,
  readDatabaseSettings,
  secret,
  serverSettings,
} from '#platform/settings.ts';
import { vaultSettings } from '#application/vault/cipher.ts';
import { checkTargetUrl } from '#platform/egress/check-target-url.ts';
import { emailSettings } from '#platform/channels/email.ts';
import { egressSettings } from '#platform/egress/http-client.ts';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { requestBudgetSettings } from '#platform/concurrency/time-budget.ts';
import { readAnswerSettings } from '#platform/postgres/settings.ts';
import { eventStoreAnswerSettings } from '#platform/event-store/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';

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

const SECRET_MIN_LENGTH = 16;
const MCP_SECRET_MIN_LENGTH = 32;

const McpBaseUrl = z
  .url()
  .transform((url) => url.replace(/\/+$/, ''))
  .refine((url) => new URL(url).origin === url, 'an address without a path, such as https://mcp.ads.example');
const BaseUrl = z.url().transform((url) => url.replace(/\/+$/, ''));
const Origins = z
  .string()
  .transform((text) => text.split(',').map((one) => one.trim()))
  .pipe(z.array(z.url().refine((url) => new URL(url).origin === url, 'an origin without a path')));

export const McpSettings = z.object({
  ...serverSettings,
  ...natsStreamSettings,
  ...eventStoreAnswerSettings,
  ...readAnswerSettings,
  ...requestBudgetSettings,
  ...readDatabaseSettings,
  ...serviceSettings,
  LISTEN_HOST,
  MCP_PORT: Port.default(8082).describe('Port of the MCP server.'),
  MCP_BASE_URL: McpBaseUrl.optional().describe(
    'Where assistants reach the MCP server, without `/mcp` and without a slash at its end; from host and port when not set.',
  ),
  MCP_WRITES: z
    .enum(['on', 'off'])
    .default('on')
    .describe('`off` hides the tools that write, whatever a connection was granted.'),
  MCP_ALLOWED_ORIGINS: Origins.optional().describe(
    'Origins of other sites whose pages may call `/mcp` and register as an app, with commas between.',
  ),
  MCP_SECRET: secret(
    Changing(z.string().min(MCP_SECRET_MIN_LENGTH)),
    'Signs the cookies of sign-ins; the same in every process of the MCP server, 32 characters at least. Two with a comma between while it changes: the first signs, both are accepted.',
  ),
  MCP_DYNAMIC_REGISTRATION: z
    .enum(['on', 'off'])
    .default('on')
    .describe('`off`: apps cannot register by themselves.'),
  TRUSTED_PROXIES,
  API_BASE_URL: BaseUrl.default('http://127.0.0.1:8080').describe(
    'Where members reach the API: links to records, media and report files begin with it.',
  ),
  CURSOR_SECRET: secret(
    Changing(z.string().min(SECRET_MIN_LENGTH)),
    'Secret that signs cursors and links to report files; the same in every API and MCP process, at least 16 characters. Two with a comma between while it changes: the first signs, both are accepted.',
  ),
  ...objectStoreSettings,
  ...emailSettings,
  ...egressSettings,
  ...vaultSettings,
  ...signInSettings,
});

/** Apps may name a document at their own address where the internet can reach this server too. */
export const hasClientDocuments = (baseUrl: string, allowLoopback: boolean): boolean =>
  checkTargetUrl(baseUrl, { allowLoopback }) === null;
