import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type ReceivedWebhook, verifyWebhook, WebhookRefused } from '#contracts/client/webhooks.ts';
import { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { SECOND_MS } from '#contracts/values/time.ts';
import type { Clock } from '#platform/clock.ts';
import { type Delivery, receiverPage } from './receiver-page.ts';

export const WEBHOOK_PATH = '/webhook';
/** A payload of 100 items with long titles is far smaller. */
const BODY_MAX_BYTES = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10 * SECOND_MS;
const DELIVERIES_MAX = 100;

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
} as const;

export type Receiver = AsyncDisposable & {
  readonly url: string;
};

/** `null` for a genuine request. */
const faultOf = async (request: ReceivedWebhook, secret: string, nowMs: number): Promise<string | null> => {
  try {
    await verifyWebhook(request, secret, nowMs);
    return null;
  } catch (error) {
    if (error instanceof WebhookRefused) return error.message;
    throw error;
  }
};

/** Listens on the loopback address and keeps deliveries in memory only. */
export const startReceiver = async (port: number, clock: Clock, secret: string): Promise<Receiver> => {
  const deliveries: Delivery[] = [];

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    if (body === null)
      return reply(response, 413, 'text/plain', `At most ${BODY_MAX_BYTES} bytes are taken.`);
    const nowMs = clock.now().getTime();
    const fault = await faultOf({ headers: request.headers, body }, secret, nowMs);
    const payload = fault === null ? payloadOf(body) : null;
    deliveries.unshift({ receivedAt: new Date(nowMs).toISOString(), fault, payload });
    deliveries.length = Math.min(deliveries.length, DELIVERIES_MAX);
    return fault === null
      ? reply(response, 204, 'text/plain', '')
      : reply(response, 401, 'text/plain', fault);
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '' } = request;
    // A page in the internet can resolve its own name to this address; its requests carry that name.
    if (!isLocalHost(request.headers.host))
      return reply(response, 421, 'text/plain', 'Use the printed address.');
    const [path] = url.split('?', 1);
    if (method === 'POST' && path === WEBHOOK_PATH) return receive(request, response);
    if (method === 'GET' && path === '/') return reply(response, 200, 'text/html', receiverPage(deliveries));
    if (method === 'GET' && path === '/deliveries') {
      return reply(response, 200, 'application/json', JSON.stringify({ deliveries }));
    }
    return reply(response, 404, 'text/plain', `Webhooks are posted to ${WEBHOOK_PATH}; the page is at /.`);
  };

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, resolve);
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

const isLocalHost = (host: string | undefined): boolean =>
  /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '');

/** `null` for a body over the limit. */
const readBody = async (request: IncomingMessage): Promise<Buffer | null> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    // The rest is read and dropped, so that the sender gets the reply.
    if (bytes <= BODY_MAX_BYTES) parts.push(part);
  }
  return bytes > BODY_MAX_BYTES ? null : Buffer.concat(parts);
};

/** `null` for a genuine body that this version cannot read. */
const payloadOf = (body: Buffer): AlertPayload | null => {
  try {
    return AlertPayload.safeParse(JSON.parse(body.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
};

const reply = (response: ServerResponse, status: number, type: string, text: string): void => {
  response.writeHead(status, { ...HEADERS, 'content-type': `${type}; charset=utf-8` });
  response.end(status === 204 ? undefined : text);
};
