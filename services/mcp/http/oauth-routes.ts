import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseUtf8Body } from '#platform/http/utf8.ts';
import { IncomingMessage } from 'node:http';
import type { Provider } from 'oidc-provider';
import { prepareMetadata } from '#application/sign-in/clients.ts';
import { resourceOf } from '../sign-in/provider.ts';
import { READ_SCOPES_OFFERED, createAddressLimit, createOriginGuard, sendPreflight } from './guards.ts';

const REQUESTS_PER_MINUTE = 60;
const REGISTRATIONS_PER_MINUTE = 20;
const REGISTRATION_MAX_BYTES = 16 * 1024;
const METADATA_KEPT_SECONDS = 300;

const sendError = (reply: FastifyReply, status: number, error: string, description: string): FastifyReply =>
  reply.code(status).header('cache-control', 'no-store').send({ error, error_description: description });

/** The provider reads the given body as the client's. */
const withBody = (request: IncomingMessage, value: unknown): IncomingMessage => {
  const body = Buffer.from(JSON.stringify(value));
  const { 'transfer-encoding': _chunked, ...headers } = request.headers;
  const copy = Object.assign(new IncomingMessage(request.socket), {
    method: request.method,
    url: request.url,
    headers: { ...headers, 'content-length': String(body.length) },
    // Otherwise Node treats the end of the body as an aborted request and closes the connection.
    complete: true,
  });
  copy.push(body);
  copy.push(null);
  return copy;
};

export type OauthRoutes = {
  readonly provider: Provider;
  readonly baseUrl: string;
  /** Origins of other sites whose pages may register an app. */
  readonly allowedOrigins: readonly string[];
};

const registerResourceMetadata = (app: FastifyInstance, baseUrl: string): void => {
  const metadata = {
    resource: resourceOf(baseUrl),
    authorization_servers: [baseUrl],
    scopes_supported: READ_SCOPES_OFFERED,
    bearer_methods_supported: ['header'],
    resource_name: 'Ad intelligence',
  };
  for (const url of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
    app.get(url, (_request, reply) =>
      reply
        .headers({
          'access-control-allow-origin': '*',
          'cache-control': `public, max-age=${METADATA_KEPT_SECONDS}`,
        })
        .send(metadata),
    );
    app.options(url, (_request, reply) =>
      reply
        .code(204)
        .headers({
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET',
          'access-control-allow-headers': '*',
        })
        .send(),
    );
  }
};

/** Reads only registrations; the provider reads all other bodies. */
export const registerOauthRoutes = async (
  app: FastifyInstance,
  { provider, baseUrl, allowedOrigins }: OauthRoutes,
): Promise<void> => {
  const serve = provider.callback();
  const { host, protocol } = new URL(baseUrl);
  const originGuard = createOriginGuard(baseUrl, allowedOrigins);
  const requests = createAddressLimit(REQUESTS_PER_MINUTE);
  const registrations = createAddressLimit(REGISTRATIONS_PER_MINUTE);

  const checkHost = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (request.headers.host !== host) {
      await sendError(reply, 403, 'invalid_request', `The host of this service is ${host}.`);
    }
  };
  const limit =
    (limits: ReturnType<typeof createAddressLimit>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const seconds = limits.take(request.ip);
      if (seconds === 0) return;
      void reply.header('retry-after', String(seconds));
      const text = `Too many requests. Try again in ${seconds} s.`;
      await sendError(reply, 429, 'temporarily_unavailable', text);
    };
  const serveRaw = async (raw: IncomingMessage, reply: FastifyReply): Promise<FastifyReply> => {
    reply.hijack();
    // The provider builds URLs from these headers. Behind a proxy that ends TLS, the connection has others.
    Object.assign(raw.headers, {
      host,
      'x-forwarded-host': host,
      'x-forwarded-proto': protocol.slice(0, -1),
    });
    await serve(raw, reply.raw);
    return reply;
  };
  const handOver = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
    serveRaw(request.raw, reply);
  const register = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    let body: unknown;
    try {
      body = JSON.parse(String(request.body));
    } catch {
      return sendError(reply, 400, 'invalid_client_metadata', 'The body is not JSON.');
    }
    const prepared = prepareMetadata(body);
    if ('fault' in prepared) return sendError(reply, 400, 'invalid_client_metadata', prepared.fault);
    return serveRaw(withBody(request.raw, prepared.metadata), reply);
  };

  await app.register(async (scope) => {
    scope.addHook('onRequest', checkHost);
    registerResourceMetadata(scope, baseUrl);
    scope.removeAllContentTypeParsers();
    // Leaves the body for the provider to read.
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const document of ['oauth-authorization-server', 'openid-configuration']) {
      scope.route({ method: ['GET', 'OPTIONS'], url: `/.well-known/${document}`, handler: handOver });
    }
    await scope.register(async (oauth) => {
      oauth.addHook('onRequest', limit(requests));
      oauth.route({ method: ['GET', 'POST', 'OPTIONS'], url: '/oauth/*', handler: handOver });
      await oauth.register(async (registration) => {
        registration.removeAllContentTypeParsers();
        registration.addContentTypeParser(
          'application/json',
          { parseAs: 'buffer', bodyLimit: REGISTRATION_MAX_BYTES },
          parseUtf8Body,
        );
        registration.setErrorHandler((error: { readonly statusCode?: number }, _request, reply) => {
          const status = error.statusCode ?? 500;
          if (status === 413) {
            const text = `A registration has at most ${REGISTRATION_MAX_BYTES} bytes.`;
            return sendError(reply, 413, 'invalid_client_metadata', text);
          }
          if (status < 500) {
            return sendError(reply, status, 'invalid_client_metadata', 'Send `application/json` in UTF-8.');
          }
          return sendError(reply, 500, 'server_error', 'Internal error. Try again.');
        });
        registration.addHook('onRequest', originGuard);
        registration.addHook('onRequest', limit(registrations));
        registration.options('/oauth/register', sendPreflight);
        registration.post('/oauth/register', register);
      });
    });
  });
};
