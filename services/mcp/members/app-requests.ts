import { type errors, Provider } from 'oidc-provider';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConnectedApp } from '#contracts/events/workspace/connection.ts';
import { SCOPES, type Scope } from '#contracts/values/access.ts';
import { sha256Of } from '#application/access/key-format.ts';
import { APP_NAME_MAX_LENGTH, connectionIdOf } from '#domain/workspace/connection.ts';
import { cutText } from '../output/result.ts';
import { identificationOf, LOOPBACK_HOSTS } from '#application/sign-in/clients.ts';
import { LOOPBACK } from '../pages/pages.ts';

export type AppRequest = {
  readonly uid: string;
  /** Account in the provider's cookie; it can differ from the account on the pages. */
  readonly accountId: string | null;
  /** Epoch seconds of the oldest accepted sign-in, when the app demands a new one. */
  readonly signedInSince: number | null;
  readonly isConsent: boolean;
  readonly app: ConnectedApp;
  /** Origin or scheme that forms may lead to, so that the browser returns to the app. */
  readonly returnsTo: string;
  readonly scopes: readonly Scope[];
  /** Repeated answers to a request create only one connection. */
  readonly connectionId: string;
};

export type AppRequests = {
  /** `null` when the request has expired, was answered, or belongs to another browser. */
  find(request: IncomingMessage, response: ServerResponse): Promise<AppRequest | null>;
  signIn(request: IncomingMessage, response: ServerResponse, accountId: string): Promise<string>;
  allow(request: IncomingMessage, response: ServerResponse, scopes: readonly Scope[]): Promise<string>;
  deny(request: IncomingMessage, response: ServerResponse): Promise<string>;
};

/** Reasons of the provider for a sign-in of a signed-in browser: the app asked for one. */
const NEW_SIGN_IN = ['login_prompt', 'max_age'];

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;
type Client = { readonly clientId: string; readonly clientName?: string | undefined };

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** An app chooses its own name: it is cleaned, cut and never trusted. */
export const describeApp = (client: Client, redirectUri: string): ConnectedApp => {
  const { clientId, clientName = '' } = client;
  const url = new URL(redirectUri);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  const name = cutText(clientName.replaceAll(/\s+/g, ' ').trim(), APP_NAME_MAX_LENGTH - 1).text;
  return {
    id: clientId,
    name: name === '' ? 'An app without a name' : name,
    identified_by: identificationOf(clientId),
    redirect_host: LOOPBACK_HOSTS.has(url.hostname) || !isWeb ? LOOPBACK : url.host,
  };
};

/** Returns the source for `form-action`: an origin, or the scheme of a native app. */
export const formTargetOf = (redirectUri: string): string => {
  const url = new URL(redirectUri);
  return url.origin === 'null' ? url.protocol : url.origin;
};

export const createAppRequests = (provider: Provider, resource: string): AppRequests => {
  const grantIdOf = (uid: string): string => sha256Of(`grant of ${uid}`);

  return {
    find: async (request, response) => {
      let interaction: Interaction;
      try {
        interaction = await provider.interactionDetails(request, response);
      } catch (error) {
        if ((error as Partial<errors.OIDCProviderError>).error === 'invalid_request') return null;
        throw error;
      }
      const { uid, params, prompt, session, iat } = interaction;
      const client = await provider.Client.find(textOf(params['client_id']));
      if (!client) return null;
      const redirectUri = textOf(params['redirect_uri']);
      const asked = textOf(params['scope']).split(' ');
      return {
        uid,
        accountId: session?.accountId ?? null,
        signedInSince: prompt.reasons.some((reason) => NEW_SIGN_IN.includes(reason)) ? iat : null,
        isConsent: prompt.name === 'consent',
        app: describeApp(client, redirectUri),
        returnsTo: formTargetOf(redirectUri),
        scopes: SCOPES.filter((scope) => asked.includes(scope)),
        connectionId: connectionIdOf(grantIdOf(uid)),
      };
    },
    signIn: async (request, response, accountId) => {
      const context = (provider as unknown as ContextFactory).createContext(request, response);
      const session = await provider.Session.get(context);
      // The interaction changes first: after a crash in between, the next request changes the session.
      if (session.accountId !== undefined && session.accountId !== accountId) {
        const interaction = await provider.interactionDetails(request, response);
        await Object.assign(interaction, { session: undefined }).persist();
        await Object.assign(session, { accountId, authorizations: undefined }).persist();
      }
      return provider.interactionResult(request, response, { login: { accountId, remember: false } });
    },
    allow: async (request, response, scopes) => {
      const { uid, params, prompt, session } = await provider.interactionDetails(request, response);
      const { missingOIDCScope, missingResourceScopes } = prompt.details as MissingScopes;
      const accountId = session?.accountId;
      if (accountId === undefined) throw new Error('a consent has an account');
      const grant = new provider.Grant({ accountId, clientId: textOf(params['client_id']) });
      grant.jti = grantIdOf(uid);
      if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(' '));
      const missing = Object.entries(
        missingResourceScopes ?? { [resource]: textOf(params['scope']).split(' ') },
      );
      for (const [indicator, asked] of missing) {
        const granted = asked.filter((scope) => (scopes as readonly string[]).includes(scope));
        const rejected = asked.filter((scope) => !granted.includes(scope));
        if (granted.length > 0) grant.addResourceScope(indicator, granted.join(' '));
        // Otherwise the provider asks again for the permissions that the person left out.
        if (rejected.length > 0) grant.rejectResourceScope(indicator, rejected.join(' '));
      }
      const grantId = await grant.save();
      return provider.interactionResult(request, response, { consent: { grantId } });
    },
    deny: (request, response) =>
      provider.interactionResult(
        request,
        response,
        { error: 'access_denied', error_description: 'The member did not allow the access.' },
        { mergeWithLastSubmission: false },
      ),
  };
};

type MissingScopes = {
  readonly missingOIDCScope?: readonly string[];
  readonly missingResourceScopes?: Readonly<Record<string, readonly string[]>>;
};

type ContextFactory = {
  createContext(
    request: IncomingMessage,
    response: ServerResponse,
  ): Parameters<typeof Provider.prototype.Session.get>[0];
};
