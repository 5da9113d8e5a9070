import {
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider';
import type { EventEmitter } from 'node:events';
import { ERRORS } from '#contracts/errors.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { GRANTABLE_SCOPES } from '#domain/workspace/connection.ts';
import { overloadOf } from '#operations/endpoint/overload.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { appTokens } from '#platform/telemetry/metrics.ts';
import { READ_SCOPES_OFFERED } from '../http/offered-scopes.ts';
import { headersOf } from '../pages/layout.ts';
import { createAdapter, type TokenRights } from './adapter.ts';
import { DOCUMENT_MAX_BYTES, type FetchForClient, KEYS_MAX_BYTES } from './client-documents.ts';
import { newRegisteredId } from '#application/sign-in/clients.ts';
import type { SignInKeys } from './keys.ts';

/** Finds who can sign in. An account is a person, or a member without an address. */
export type Accounts = {
  /** Returns `null` for an account that has no members any more. */
  find(accountId: string): Promise<{ readonly accountId: string } | null>;
};

export type ProviderDependencies = {
  /** Address of the process: the issuer. */
  readonly baseUrl: string;
  readonly pool: Database;
  readonly connections: TokenRights;
  readonly members: Accounts;
  readonly keys: SignInKeys;
  /** Fetches documents of clients. `null` when client documents are off. */
  readonly fetchForClient: FetchForClient | null;
  readonly hasRegistration: boolean;
  /** Days after which a connection ends. */
  readonly connectionDays: number;
  /** Page for errors that cannot be sent to an app. */
  readonly errorPage: (fault: { readonly error: string; readonly description: string }) => string;
  readonly log: Log;
};

/** Lifetimes in seconds. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = DAY_MS / 1_000;
const INTERACTION_SECONDS = 15 * MINUTE;
const CODE_SECONDS = MINUTE;
const ACCESS_TOKEN_SECONDS = HOUR;
/** From the last use, because each use makes a new one. */
const REFRESH_TOKEN_SECONDS = 30 * DAY;
const SESSION_SECONDS = 12 * HOUR;
/** Seconds for which a client's document is kept. */
const DOCUMENT_KEPT = { min: 5 * MINUTE, max: DAY };

/** Path of the page on which a member answers an app's request. */
export const interactionPath = (uid: string): string => `/signin/${uid}`;
/** Address that tokens are for. */
export const resourceOf = (baseUrl: string): string => `${baseUrl}/mcp`;

const AUTHORIZE = '/oauth/authorize';
const METADATA: ReadonlySet<string> = new Set([
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
]);
/** Parameters that the provider refuses without ID tokens. Common clients send them, and need no answer to them. */
const OF_ID_TOKENS = ['nonce', 'max_age', 'claims', 'claims_locales', 'id_token_hint', 'acr_values'];
const KNOWN: ReadonlySet<string> = new Set<string>([...GRANTABLE_SCOPES, 'offline_access']);
const GRANTABLE: ReadonlySet<string> = new Set<string>(GRANTABLE_SCOPES);

/** Keeps known scopes of an app's request. An app that asks for none of the service gets all reads to ask for. */
const scopesAskedFor = (text: unknown): string => {
  const asked = typeof text === 'string' ? text.split(' ').filter((scope) => KNOWN.has(scope)) : [];
  const some = asked.some((scope) => GRANTABLE.has(scope)) ? [] : READ_SCOPES_OFFERED;
  return [...new Set([...asked, ...some])].join(' ');
};

/** Login is also needed where the signed-in account has no members any more. */
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
    // The cookies of a request have no path here: the provider then limits each to the pages of its own request, so that
    // two requests in one browser do not end each other.
    cookies: { keys: [...keys.cookies], long: { ...cookie, path: '/' }, short: cookie },
    // A person signs out of a browser; the app's connection goes on until it is ended.
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
    // Each request of an app is asked about; an earlier consent is another connection.
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
    // Scopes of the API are those of the resource. Listed here, each authorization would ask for ever.
    scopes: ['offline_access'],
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Grant: connectionDays * DAY,
      Interaction: INTERACTION_SECONDS,
      // Also for public clients on the web, to which the provider would give no longer life than the first token had.
      RefreshToken: REFRESH_TOKEN_SECONDS,
      Session: SESSION_SECONDS,
    },
  };
};

/**
 * Creates the authorization server. Its state is in Postgres, so that every process serves every step. Members answer
 * on the pages under `/signin`, which call `interactionDetails` and `interactionFinished`.
 */
export const createProvider = (dependencies: ProviderDependencies): Provider => {
  const provider = new Provider(dependencies.baseUrl, configurationOf(dependencies));
  // Addresses are made from the headers that the routes set, not from those of the connection.
  provider.proxy = true;
  provider.silent = true;
  const { log } = dependencies;
  const report = (error: unknown): void => log.error({ err: error }, 'authorization server failed');
  provider.on('server_error', (ctx, error) => {
    const refusal = overloadOf(error);
    if (refusal === null) return report(error);
    log.warn({ err: error }, 'authorization server did not finish in time');
    // The error of RFC 6749, section 4.1.2.1, instead of a fault of the provider.
    ctx.status = ERRORS[refusal.code].status;
    ctx.set('retry-after', String(refusal.retryAfterSeconds));
    if (typeof ctx.body === 'object')
      ctx.body = { error: 'temporarily_unavailable', error_description: refusal.message };
  });
  provider.on('grant.success', ({ oidc }) => {
    const grant = oidc.params?.['grant_type'];
    if (grant === 'authorization_code' || grant === 'refresh_token') appTokens.inc({ grant });
  });
  // An event of Koa, which the types of the provider do not list.
  (provider as EventEmitter).on('error', report);
  provider.use(async (ctx, next) => {
    const { query, path } = ctx as unknown as KoaContextWithOIDC;
    if (path === AUTHORIZE && ctx.method === 'GET') {
      const kept = Object.entries(query).filter(([name]) => !OF_ID_TOKENS.includes(name));
      ctx.query = { ...Object.fromEntries(kept), scope: scopesAskedFor(query['scope']) };
    }
    await next();
    if (METADATA.has(path) && typeof ctx.body === 'object') {
      // The provider would list its own scopes, and `openid`, for which the service has no tokens.
      Object.assign(ctx.body as object, { scopes_supported: [...READ_SCOPES_OFFERED, 'offline_access'] });
    }
  });
  return provider;
};
