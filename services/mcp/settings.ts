import { z } from 'zod';
import { vaultSettings } from '#application/vault/cipher.ts';
import { emailSettings } from '#platform/channels/email.ts';
import { checkTargetUrl } from '#platform/egress/check-target-url.ts';
import { egressSettings } from '#platform/egress/http-client.ts';
import { objectStoreSettings } from '#platform/object-store/open-object-store.ts';
import { serviceSettings } from '#platform/process/run-process.ts';
import { callBudgetSettings } from './calls/call-limits.ts';
import { signInSettings } from './members/sign-in-settings.ts';
import { requestBudgetSettings } from '#platform/concurrency/time-budget.ts';
import { readAnswerSettings } from '#platform/postgres/settings.ts';
import { eventStoreAnswerSettings } from '#platform/event-store/settings.ts';
import { Addresses, Port, readDatabaseSettings, secret, serverSettings } from '#platform/settings.ts';
import { natsStreamSettings } from '#platform/nats/streams.ts';

const SECRET_MIN_LENGTH = 16;
const MCP_SECRET_MIN_LENGTH = 32;
const CONNECTION_DAYS_MAX = 365;

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
  ...callBudgetSettings,
  ...readDatabaseSettings,
  ...serviceSettings,
  MCP_HOST: z.string().default('127.0.0.1').describe('Where the MCP server listens.'),
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
    z.string().min(MCP_SECRET_MIN_LENGTH),
    'Signs the cookies of sign-ins; the same in every process of the MCP server, 32 characters at least.',
  ),
  MCP_SECRET_SECOND: secret(
    z.string().min(MCP_SECRET_MIN_LENGTH).optional(),
    'Cookies signed by it are accepted too, while secrets change.',
  ),
  MCP_CLIENT_DOCUMENTS: z
    .enum(['on', 'off', 'auto'])
    .default('auto')
    .describe(
      'Whether apps may name a document at their own address instead of registering; `auto`: where the base URL is public and https.',
    ),
  MCP_DYNAMIC_REGISTRATION: z
    .enum(['on', 'off'])
    .default('on')
    .describe('`off`: apps cannot register by themselves.'),
  MCP_TRUSTED_PROXIES: Addresses.optional().describe(
    'Proxies in front of the MCP server, addresses or ranges with commas between: their `x-forwarded-for` names the client.',
  ),
  MCP_CONNECTION_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(CONNECTION_DAYS_MAX)
    .default(180)
    .describe('Days after which the connection of an app ends and the member must sign in again.'),
  API_BASE_URL: BaseUrl.default('http://127.0.0.1:8080').describe(
    'Where members reach the API: links to records, media and report files begin with it.',
  ),
  CURSOR_SECRET: secret(
    z.string().min(SECRET_MIN_LENGTH),
    'Signs cursors; the same as in the API, 16 characters at least.',
  ),
  CURSOR_SECRET_SECOND: secret(
    z.string().min(SECRET_MIN_LENGTH).optional(),
    'Cursors signed by it are accepted too, while secrets change.',
  ),
  DOWNLOAD_SECRET: secret(
    z.string().min(SECRET_MIN_LENGTH).optional(),
    'Signs the links to report files, as in the API; `CURSOR_SECRET` when not set.',
  ),
  DOWNLOAD_SECRET_SECOND: secret(
    z.string().min(SECRET_MIN_LENGTH).optional(),
    'Links signed by it are accepted too, while secrets change; `CURSOR_SECRET_SECOND` when not set.',
  ),
  ...objectStoreSettings,
  ...emailSettings,
  ...egressSettings,
  ...vaultSettings,
  ...signInSettings,
});

/** `auto`: only with a public https base URL. */
export const hasClientDocuments = (mode: 'on' | 'off' | 'auto', baseUrl: string): boolean =>
  mode === 'auto' ? checkTargetUrl(baseUrl, { allowLoopback: false }) === null : mode === 'on';
