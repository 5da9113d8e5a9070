import { z } from 'zod';
import { operationSettings } from '#operations/dependencies/open-resources.ts';
import { checkTargetUrl } from '#platform/egress/check-target-url.ts';
import { Changing, Port, secret } from '#platform/settings.ts';

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
  ...operationSettings,
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
  API_BASE_URL: BaseUrl.default('http://127.0.0.1:8080').describe(
    'Where members reach the API: links to records, media and report files begin with it.',
  ),
  ...signInSettings,
});

/** Apps may name a document at their own address where the internet can reach this server too. */
export const hasClientDocuments = (baseUrl: string, allowLoopback: boolean): boolean =>
  checkTargetUrl(baseUrl, { allowLoopback }) === null;
