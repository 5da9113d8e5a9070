import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  discovery,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { sha256Of } from '#application/access/key-format.ts';
import type { AddressIndex } from '#application/vault/address-index.ts';
import { TimeUsedUp, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';

const ANSWER_TIMEOUT_SECONDS = 5;
/** Time in which the browser must return. */
const RETURN_MINUTES = 15;

/** The provider is down, times out, or replies with a server fault. */
export class UpstreamUnavailable extends Error {
  constructor(host: string, cause: unknown) {
    super(`The sign-in of ${host} does not answer.`, { cause });
    this.name = 'UpstreamUnavailable';
  }
}

const TIMEOUT_CODES: ReadonlySet<unknown> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);
/** Messages of `fetch` for a refused connection, and for one that ends before the reply. */
const CONNECTION_FAILURES: ReadonlySet<unknown> = new Set(['fetch failed', 'terminated']);
const SERVER_FAULT = 500;

/** True when the provider decided nothing about the person. */
const isUnavailable = (error: unknown): boolean => {
  const { code, message, status, cause } = error as Error & { code?: unknown; status?: number };
  const answered = status ?? (cause instanceof Response ? cause.status : 0);
  return TIMEOUT_CODES.has(code) || CONNECTION_FAILURES.has(message) || answered >= SERVER_FAULT;
};

/** Sign-in at the organisation's own OpenID provider. It creates no members. */
export type Upstream = {
  readonly name: string;
  /** Returns the URL to redirect to. Throws `UpstreamUnavailable`. */
  start(browserHash: string, returnTo: string): Promise<string>;
  /**
   * `null` for a sign-in of another browser, a repetition, or a refusal. `accountId` is `null` without a verified
   * address. Throws `UpstreamUnavailable`; the sign-in must then start again.
   */
  finish(
    browserHash: string,
    url: URL,
  ): Promise<{ readonly returnTo: string; readonly accountId: string | null } | null>;
};

const START = `
  insert into sign_in.upstream (state_hash, browser_hash, code_verifier, nonce, return_to, expires_at)
  values ($1, $2, $3, $4, $5, now() + interval '${RETURN_MINUTES} minutes')`;
const FINISH = `
  delete from sign_in.upstream where state_hash = $1 and browser_hash = $2 and expires_at > now()
  returning code_verifier, nonce, return_to`;
type Row = { readonly code_verifier: string; readonly nonce: string; readonly return_to: string };

export const createUpstream = (
  { pool, index, log }: { readonly pool: Database; readonly index: AddressIndex; readonly log: Log },
  settings: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly baseUrl: string;
  },
): Upstream => {
  const issuer = new URL(settings.issuer);
  const redirectUri = `${settings.baseUrl}/signin/upstream/callback`;
  let found: Promise<Configuration> | undefined;
  /** Reads the provider's metadata on first use, and again after a failure. */
  const configuration = (): Promise<Configuration> => {
    // An operator may set http, for a provider in the same network and for tests.
    const options = {
      timeout: ANSWER_TIMEOUT_SECONDS,
      ...(issuer.protocol === 'http:' ? { execute: [allowInsecureRequests] } : {}),
    };
    found ??= discovery(issuer, settings.clientId, settings.clientSecret, undefined, options);
    found.catch(() => {
      found = undefined;
    });
    return untilTimeUsedUp(found).catch((error: unknown) => {
      throw error instanceof TimeUsedUp ? error : new UpstreamUnavailable(issuer.host, error);
    });
  };
  return {
    name: issuer.host,
    start: async (browserHash, returnTo) => {
      const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
      const url = buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: 'openid email',
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      await pool.query(START, [sha256Of(state), browserHash, verifier, nonce, returnTo]);
      return url.href;
    },
    finish: async (browserHash, url) => {
      const state = url.searchParams.get('state') ?? '';
      const [row] = (await pool.query<Row>(FINISH, [sha256Of(state), browserHash])).rows;
      if (!row) return null;
      try {
        const granting = authorizationCodeGrant(await configuration(), url, {
          pkceCodeVerifier: row.code_verifier,
          expectedState: state,
          expectedNonce: row.nonce,
          idTokenExpected: true,
        });
        const tokens = await untilTimeUsedUp(granting);
        const claims = tokens.claims();
        const email = claims?.['email_verified'] === true ? claims['email'] : null;
        const accountId = typeof email === 'string' ? index.accountIdOf(email) : null;
        return { returnTo: row.return_to, accountId };
      } catch (error) {
        if (error instanceof TimeUsedUp || error instanceof UpstreamUnavailable) throw error;
        if (isUnavailable(error)) throw new UpstreamUnavailable(issuer.host, error);
        log.warn({ err: error, issuer: issuer.host }, 'upstream sign-in failed');
        return null;
      }
    },
  };
};
