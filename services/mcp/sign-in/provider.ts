import { createPrivateKey, hkdfSync, type webcrypto } from 'node:crypto';
import {
  type Configuration,
  type KoaContextWithOIDC,
  Provider,
  errors,
  interactionPolicy,
} from 'oidc-provider';
import type { EventEmitter } from 'node:events';
import { ERRORS } from '#contracts/errors.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { GRANTABLE_SCOPES } from '#domain/workspace/connection.ts';
import { overloadOf } from '#operations/endpoint/overload.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { appTokens } from '#platform/telemetry/metrics.ts';
import { newRegisteredId } from '#application/sign-in/clients.ts';
import { READ_SCOPES_OFFERED } from '../http/guards.ts';
import { headersOf } from '../pages/layout.ts';
import { type TokenRights, createAdapter } from './adapter.ts';
import { DOCUMENT_MAX_BYTES, type FetchForClient, KEYS_MAX_BYTES } from './client-documents.ts';

const KEY_BYTES = 32;
/** PKCS #8 prefix of an Ed25519 key (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export type SignInKeys = {
  readonly cookies: readonly string[];
  /** JSON Web Keys; only their public halves are published. */
  readonly signing: { readonly keys: readonly webcrypto.JsonWebKey[] };
};

const derive = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `mcp ${purpose}`, KEY_BYTES));

const signingKeyOf = (secret: string): webcrypto.JsonWebKey =>
  createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, derive(secret, 'signing')]),
    format: 'der',
    type: 'pkcs8',
  }).export({ format: 'jwk' });

/** The first secret is used, `second` is still accepted. Equal secrets let a sign-in continue in another process. */
export const deriveKeys = (secret: string, second?: string): SignInKeys => {
  const secrets = [...new Set([secret, ...(second === undefined ? [] : [second])])];
  return {
    cookies: secrets.map((one) => derive(one, 'cookies').toString('base64url')),
    signing: { keys: secrets.map(signingKeyOf) },
  };
};

/** An account is a person, or a member without an address. */
export type Accounts = {
  /** `null` for an account without members. */
  find(accountId: string): Promise<{ readonly accountId: string } | null>;
};

export type ProviderDependencies = {
  readonly baseUrl: string;
  readonly pool: Database;
  readonly connections: TokenRights;
  readonly members: Accounts;
  readonly keys: SignInKeys;
  /** `null` when client documents are off. */
  readonly fetchForClient: FetchForClient | null;
  readonly hasRegistration: boolean;
  readonly connectionDays: number;
  readonly errorPage: (fault: { readonly error: string; readonly description: string }) => string;
  readonly log: Log;
};

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = DAY_MS / 1_000;
const INTERACTION_SECONDS = 15 * MINUTE;
const CODE_SECONDS = MINUTE;
const ACCESS_TOKEN_SECONDS = HOUR;
/** Counts from the last use, because each use creates a new token. */
const REFRESH_TOKEN_SECONDS = 30 * DAY;
const SESSION_SECONDS = 12 * HOUR;
const DOCUMENT_KEPT = { min: 5 * MINUTE, max: DAY };

export const interactionPath = (uid: string): string => `/signin/${uid}`;
export const resourceOf = (baseUrl: string): string => `${baseUrl}/mcp`;

const AUTHORIZE = '/oauth/authorize';
const METADATA: ReadonlySet<string> = new Set([
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
]);
/** The provider rejects these without ID tokens, but common clients send them; ignoring them is safe. */
const OF_ID_TOKENS = ['nonce', 'max_age', 'claims', 'claims_locales', 'id_token_hint', 'acr_values'];
const KNOWN: ReadonlySet<string> = new Set<string>([...GRANTABLE_SCOPES, 'offline_access']);
const GRANTABLE: ReadonlySet<string> = new Set<string>(GRANTABLE_SCOPES);

/** Keeps known scopes. A request without any offers all reads. */
const scopesAskedFor = (text: unknown): string => {
  const asked = typeof text === 'string' ? text.split(' ').filter((scope) => KNOWN.has(scope)) : [];
  const some = asked.some((scope) => GRANTABLE.has(scope)) ? [] : READ_SCOPES_OFFERED;
  return [...new Set([...asked, ...some])].join(' ');
};

/** Also requires a login when the signed-in account has no members. */
const createPolicy = (): NonNullable<NonNullable<Configuration['interactions']>['policy']> => {
  const policy = interactionPolicy.base();
  const { Check } = interactionPolicy;
  policy.get('login')?.checks.add(
    new Check('no_account', 'the account does not exist', 'login_required', ({ oidc }) => {
      const isMissing = oidc.session?.accountId !== undefined && oidc.account === undefined;
      return isMissing ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
    }),
  );
  return policy;
};

const configurationOf = (dependencies: ProviderDependencies): Configuration => {
  const { baseUrl, pool, connections, members, keys, fetchForClient, connectionDays } = dependencies;
  const resource = resourceOf(baseUrl);
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const;
  return {
    adapter: createAdapter(pool, connections),
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    clientBasedCORS: () => true,
    clientDefaults: {
      grant_types: ['authorization_code'],
      id_token_signed_response_alg: 'Ed25519',
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    // Without a path each cookie is limited to its own request, so that two requests in a browser do not interfere.
    cookies: { keys: [...keys.cookies], long: { ...cookie, path: '/' }, short: cookie },
    // Signing out of a browser does not end the app's connection.
    expiresWithSession: () => false,
    features: {
      clientIdMetadataDocument: {
        enabled: fetchForClient !== null,
        ack: 'draft-02',
        cacheDuration: DOCUMENT_KEPT,
      },
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      registration: {
        enabled: dependencies.hasRegistration,
        idFactory: newRegisteredId,
        issueRegistrationAccessToken: false,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, asked) => {
          if (asked !== resource) throw new errors.InvalidTarget();
          return {
            scope: GRANTABLE_SCOPES.join(' '),
            audience: resource,
            accessTokenFormat: 'opaque',
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
          };
        },
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    ...(fetchForClient === null ? {} : { fetch: fetchForClient as NonNullable<Configuration['fetch']> }),
    fetchResponseBodyLimits: {
      'client_id metadata document': DOCUMENT_MAX_BYTES,
      jwks_uri: KEYS_MAX_BYTES,
      sector_identifier_uri: KEYS_MAX_BYTES,
    },
    findAccount: async (_ctx, accountId) => {
      const found = await members.find(accountId);
      return found ? { accountId, claims: async () => ({ sub: accountId }) } : undefined;
    },
    interactions: { url: (_ctx, { uid }) => interactionPath(uid), policy: createPolicy() },
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    jwks: { keys: [...keys.signing.keys] },
    // Each request needs consent; an earlier consent is another connection.
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
    },
    pkce: { required: () => true },
    renderError: (ctx, { error, error_description: description = '' }) => {
      for (const [name, value] of Object.entries(headersOf())) ctx.set(name, value);
      ctx.body = dependencies.errorPage({ error, description });
    },
    responseTypes: ['code'],
    rotateRefreshToken: true,
    routes: {
      authorization: AUTHORIZE,
      end_session: '/oauth/end',
      jwks: '/oauth/jwks',
      registration: '/oauth/register',
      revocation: '/oauth/revoke',
      token: '/oauth/token',
    },
    // API scopes belong to the resource. Listed here, the provider would ask for consent each time.
    scopes: ['offline_access'],
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Grant: connectionDays * DAY,
      Interaction: INTERACTION_SECONDS,
      // By default a public web client would get no longer life than its first token.
      RefreshToken: REFRESH_TOKEN_SECONDS,
      Session: SESSION_SECONDS,
    },
  };
};

/** Creates the authorization server. Postgres holds its state, so that any process serves any step. */
export const createProvider = (dependencies: ProviderDependencies): Provider => {
  const provider = new Provider(dependencies.baseUrl, configurationOf(dependencies));
  // Builds URLs from the headers that the routes set, not from the connection.
  provider.proxy = true;
  provider.silent = true;
  const { log } = dependencies;
  const report = (error: unknown): void => log.error({ err: error }, 'authorization server failed');
  provider.on('server_error', (ctx, error) => {
    const refusal = overloadOf(error);
    if (refusal === null) return report(error);
    log.warn({ err: error }, 'authorization server did not finish in time');
    // Error of RFC 6749, section 4.1.2.1, instead of a server fault.
    ctx.status = ERRORS[refusal.code].status;
    ctx.set('retry-after', String(refusal.retryAfterSeconds));
    if (typeof ctx.body === 'object')
      ctx.body = { error: 'temporarily_unavailable', error_description: refusal.message };
  });
  provider.on('grant.success', ({ oidc }) => {
    const grant = oidc.params?.['grant_type'];
    if (grant === 'authorization_code' || grant === 'refresh_token') appTokens.inc({ grant });
  });
  (provider as EventEmitter).on('error', report);
  provider.use(async (ctx, next) => {
    const { query, path } = ctx as unknown as KoaContextWithOIDC;
    if (path === AUTHORIZE && ctx.method === 'GET') {
      const kept = Object.entries(query).filter(([name]) => !OF_ID_TOKENS.includes(name));
      ctx.query = { ...Object.fromEntries(kept), scope: scopesAskedFor(query['scope']) };
    }
    await next();
    if (METADATA.has(path) && typeof ctx.body === 'object') {
      // The provider would list its own scopes and `openid`, which the service does not issue.
      Object.assign(ctx.body as object, { scopes_supported: [...READ_SCOPES_OFFERED, 'offline_access'] });
    }
  });
  return provider;
};
