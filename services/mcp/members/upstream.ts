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
import { sha256Of } from '#application/access/api-key-format.ts';
import type { AddressIndex } from '#application/vault/address-index.ts';
import { TimeUsedUp, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Seconds in which the provider must answer a request. */
const ANSWER_TIMEOUT_SECONDS = 5;
/** Minutes in which the browser must come back. */
const RETURN_MINUTES = 15;

/** Thrown when the provider is down, does not answer in time, or answers with a fault of its own. */
export class UpstreamUnavailable extends Error {
  constructor(host: string, cause: unknown) {
    super(`The sign-in of ${host} does not answer.`, { cause });
    this.name = 'UpstreamUnavailable';
  }
}

/** Codes of the client for a provider that does not answer in time. */
const TIMEOUT_CODES: ReadonlySet<unknown> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);
/** Messages of `fetch` for a connection that is refused, or ends before the answer does. */
const CONNECTION_FAILURES: ReadonlySet<unknown> = new Set(['fetch failed', 'terminated']);
const SERVER_FAULT = 500;

/** True when the provider has said nothing about the person: it is gone, silent, or has a fault. */
const isUnavailable = (error: unknown): boolean => {
  const { code, message, status, cause } = error as Error & { code?: unknown; status?: number };
  const answered = status ?? (cause instanceof Response ? cause.status : 0);
  return TIMEOUT_CODES.has(code) || CONNECTION_FAILURES.has(message) || answered >= SERVER_FAULT;
};

/** Sign-in at the organisation's own OpenID provider. It signs in existing members and creates none. */
export type Upstream = {
  /** Host of the provider, as the page names it. */
  readonly name: string;
  /** Begins a sign-in and returns the address to send the browser to. Throws `UpstreamUnavailable`. */
  start(browserHash: string, returnTo: string): Promise<string>;
  /**
   * Ends a sign-in with the address that the browser came back to. `null` when it did not begin in this browser, was
   * ended before, or the provider refused. `accountId` is null when it did not vouch for an e-mail address. Throws
   * `UpstreamUnavailable`: the sign-in must then begin again.
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
  /** Reads the provider's metadata on first use. A failed reading is tried again. */
  const configuration = (): Promise<Configuration> => {
    // The setting is the operator's: http is for a provider in the same network and for tests.
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
