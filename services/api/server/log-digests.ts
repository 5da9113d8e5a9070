import type { FastifyInstance } from 'fastify';
import { readDigests } from '#application/audit/log-digest.ts';
import { untilTimeUsedUp, waitsOf, withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { JSON_CONTENT } from '#platform/http/http-server.ts';
import { requestIdOf } from '#platform/http/request-headers.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { sendError } from './send-error.ts';

export const DIGESTS_PATH = '/.well-known/log-digests';
/** More than a year of nights. */
const DIGESTS_MAX = 400;
const CACHED_MS = 10_000;

/** Publishes the signed digests of the log, newest first, without a key. Requests of ten seconds share a read. */
export const registerLogDigests = (
  app: FastifyInstance,
  { pool, log, requestBudgetMs }: ApiDependencies,
): void => {
  let text: Promise<string> | null = null;
  const read = async (): Promise<string> => JSON.stringify({ digests: await readDigests(pool, DIGESTS_MAX) });
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
  app.get(DIGESTS_PATH, { exposeHeadRoute: true }, async (request, reply) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    try {
      const body = await withTimeBudget(waitsOf(requestBudgetMs), () => untilTimeUsedUp(readShared()));
      return await reply
        .header('x-request-id', requestId)
        .header('cache-control', 'public, max-age=60')
        .header('x-content-type-options', 'nosniff')
        .type(JSON_CONTENT)
        .send(body);
    } catch (error) {
      sendError(reply, requestId, error, log);
      return reply;
    }
  });
};
