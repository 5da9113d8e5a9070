import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject } from '#contracts/messages/subjects.ts';
import { keyOf } from '#contracts/observations/index.ts';
import { SECOND_MS } from '#contracts/values/time.ts';
import type { Clock } from '#platform/clock.ts';
import { headersFrom, type Nats } from '#platform/nats/connection.ts';
import { MEDIA_HOST } from './media-addresses.ts';
import { answerMedia, creativeKeyOf, type MediaAnswer } from './media-world.ts';
import { analysisOfServed } from '../generators/creative-files.ts';
import type { World } from '../world/world.ts';

const REQUEST_TIMEOUT_MS = 10 * SECOND_MS;
/** The archive opens four; each may draw a picture of 6 MB. */
const CONNECTIONS_MAX = 16;
/** Analyses of further addresses are published again, which changes nothing. */
const PUBLISHED_MAX = 10_000;

export type Pictures = AsyncDisposable & { readonly origin: string };

/**
 * Listens on the loopback address. Publishes the analysis before serving the file, so that none is lost; without the
 * queue it replies 503.
 */
export const startPictures = async (
  world: World,
  nats: Pick<Nats, 'jetstream'>,
  clock: Clock,
): Promise<Pictures> => {
  const published = new LRUCache<string, true>({ max: PUBLISHED_MAX });
  const publishAnalysis = async (address: string, answer: MediaAnswer): Promise<void> => {
    if (published.has(address)) return;
    const observedAt = clock.now().toISOString();
    const analysis = analysisOfServed(world, address, creativeKeyOf(answer), observedAt);
    if (analysis !== null) {
      await nats.jetstream.publish(observationSubject(keyOf(analysis)), JSON.stringify(analysis), {
        headers: headersFrom(routingHeadersOf(analysis)),
      });
    }
    published.set(address, true);
  };
  const answer = async (host: string | undefined, target: string): Promise<MediaAnswer> => {
    // A page in the internet can resolve its own name to this address; its requests carry that name.
    if (host !== MEDIA_HOST) {
      return { status: 421, contentType: 'text/plain', body: Buffer.from(`This serves ${MEDIA_HOST} only.`) };
    }
    const served = await answerMedia(world, target, clock.now());
    if (served.address !== undefined) await publishAnalysis(served.address, served);
    return served;
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, contentType, body } = await answer(request.headers.host, request.url ?? '/');
    response.writeHead(status, { 'content-type': contentType, 'content-length': body.length });
    response.end(body);
  };
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.writeHead(503).end());
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The media server has no port.');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
