import type { FastifyInstance } from 'fastify';
import { readDigests } from '#application/audit/log-digest.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { requestIdOf } from '#platform/http/request-headers.ts';
import { JSON_CONTENT } from '#platform/http/http-server.ts';

export const DIGESTS_PATH = '/.well-known/log-digests';
/** More than a year of nights. */
const DIGESTS_MAX = 400;
const CACHED_MS = 10_000;

/** Publishes the signed digests of the log, newest first, without a key. Requests of ten seconds share a read. */
export const registerLogDigests = (app: FastifyInstance, database: Database): void => {
  let text: Promise<string> | null = null;
  const read = async (): Promise<string> =>
    JSON.stringify({ digests: await readDigests(database, DIGESTS_MAX) });
  const readShared = (): Promise<string> => {
    if (text !== null) return text;
    const reading = read();
    const forget = (): void => {
      text = null;
    };
    reading.then(() => setTimeout(forget, CACHED_MS).unref(), forget);
    text = reading;
    return reading;
  };
  app.get(DIGESTS_PATH, { exposeHeadRoute: true }, async (request, reply) =>
    reply
      .header('x-request-id', requestIdOf(request.headers['x-request-id']))
      .header('cache-control', 'public, max-age=60')
      .header('x-content-type-options', 'nosniff')
      .type(JSON_CONTENT)
      .send(await readShared()),
  );
};
