import type { FastifyInstance } from 'fastify';
import type { Clock } from '#platform/clock.ts';
import { type BotKey, DIRECTORY_VALID_MS, KEY_DIRECTORY_PATH } from '#platform/http-client/bot-key.ts';
import { requestMeter } from '#platform/telemetry/metrics.ts';

/**
 * Serves the collector's public key (Web Bot Auth), signed with the same key to prove that its owner publishes it
 * here.
 */
export const registerKeyDirectory = (app: FastifyInstance, botKey: BotKey | null, clock: Clock): void => {
  if (botKey === null) return;
  const meter = requestMeter('getKeyDirectory');
  app.get(KEY_DIRECTORY_PATH, async (request, reply) => {
    const since = performance.now();
    reply.raw.once('close', () => meter(reply.raw.statusCode, (performance.now() - since) / 1_000));
    const { headers, body } = await botKey.directory(request.host, clock.now());
    // A cached answer must not outlive its signature.
    const cacheControl = `public, max-age=${DIRECTORY_VALID_MS / 1_000 / 2}`;
    return reply.headers({ ...headers, 'cache-control': cacheControl }).send(Buffer.from(body));
  });
};
