import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

export const CLIENT = 'service';

type Claims = Readonly<Record<string, unknown>>;

/** A small OpenID provider: metadata, key, authorization and token endpoint. */
export type UpstreamProvider = AsyncDisposable & {
  readonly issuer: string;
  /** Returns a code for which the provider vouches for the claims. */
  readonly codeFor: (claims: Claims) => string;
  /** Sets the claims of the person who comes next with a browser. */
  readonly signIn: (claims: Claims) => void;
};

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const idTokenOf = (claims: object): string => {
  const unsigned = `${encode({ alg: 'RS256', kid: 'key' })}.${encode(claims)}`;
  return `${unsigned}.${sign('sha256', Buffer.from(unsigned), privateKey).toString('base64url')}`;
};

export const openUpstreamProvider = async (): Promise<UpstreamProvider> => {
  const claimsOf = new Map<string, Claims>();
  let person: Claims = {};
  let issuer = '';
  const codeFor = (claims: Claims): string => {
    const code = randomUUID();
    claimsOf.set(code, claims);
    return code;
  };
  const replyTo = async (request: IncomingMessage): Promise<object | URL> => {
    const url = new URL(request.url ?? '/', issuer);
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
        };
      case '/keys':
        return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key', alg: 'RS256', use: 'sig' }] };
      case '/authorize': {
        const back = new URL(url.searchParams.get('redirect_uri') ?? '');
        const code = codeFor({ nonce: url.searchParams.get('nonce'), ...person });
        back.search = new URLSearchParams({ code, state: url.searchParams.get('state') ?? '' }).toString();
        return back;
      }
      default: {
        const code = new URLSearchParams(await text(request)).get('code') ?? '';
        const now = Math.floor(Date.now() / 1_000);
        const standard = { iss: issuer, aud: CLIENT, sub: 'ada', iat: now, exp: now + 60 };
        const id_token = idTokenOf({ ...standard, ...claimsOf.get(code) });
        return { access_token: 'unused', token_type: 'bearer', id_token };
      }
    }
  };
  const server = createServer((request, response) => {
    void replyTo(request).then((reply) =>
      reply instanceof URL
        ? response.writeHead(302, { location: reply.href }).end()
        : response.setHeader('content-type', 'application/json').end(JSON.stringify(reply)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return {
    issuer,
    codeFor,
    signIn: (claims) => {
      person = claims;
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
