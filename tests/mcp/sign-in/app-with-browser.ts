import {
  Client,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';

/** An app on the member's computer: an MCP client that waits for the browser on a port of the loopback interface. */
export type App = AsyncDisposable & {
  /** Connects and returns the address to open in the browser, or `null` when it is connected already. */
  begin(): Promise<string | null>;
  /** Returns the address of the request that the client began by itself, for example when a scope was missing. */
  beginAgain(): string;
  /** Waits until the browser comes back. Returns its parameters. */
  returned(): Promise<URLSearchParams>;
  /** Waits for the browser, exchanges its code and connects. */
  finish(): Promise<Client>;
  /** The access token that the app holds now. */
  accessToken(): string;
};

/** Creates an app that registers itself. `url`: address of the MCP server. */
export const openApp = async (url: string, name: string): Promise<App> => {
  let comeBack = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    comeBack.resolve(new URL(request.url ?? '/', 'http://localhost').searchParams);
    response.setHeader('content-type', 'text/html').end('<title>Back</title><p>Back in the app.');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const redirectUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/back`;
  const saved: Partial<Record<'client' | 'tokens' | 'verifier' | 'address', unknown>> = {};
  const metadata: OAuthClientMetadata = {
    client_name: name,
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  };
  const provider = {
    redirectUrl,
    clientMetadata: metadata,
    clientInformation: () => saved.client,
    saveClientInformation: (value: unknown) => void (saved.client = value),
    tokens: () => saved.tokens,
    saveTokens: (value: unknown) => void (saved.tokens = value),
    // After a refused refresh, an app asks the member again.
    invalidateCredentials: () => void delete saved.tokens,
    codeVerifier: () => saved.verifier,
    saveCodeVerifier: (value: unknown) => void (saved.verifier = value),
    redirectToAuthorization: (value: URL) => void (saved.address = value.href),
  } as unknown as OAuthClientProvider;
  const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: 'tests', version: '1' });
    await client.connect(transport());
    return client;
  };
  return {
    begin: async () => {
      comeBack = Promise.withResolvers();
      try {
        await (await connect()).close();
        return null;
      } catch (error) {
        if (!(error instanceof UnauthorizedError)) throw error;
        return String(saved.address);
      }
    },
    beginAgain: () => {
      comeBack = Promise.withResolvers();
      return String(saved.address);
    },
    returned: () => comeBack.promise,
    finish: async () => {
      await transport().finishAuth(await comeBack.promise);
      return connect();
    },
    accessToken: () => (saved.tokens as { readonly access_token: string }).access_token,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Presses a button of the current page. */
export const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();
