import fastify from 'fastify';
import { expect, test } from 'vitest';
import type { Log } from '#platform/logger.ts';
import { ReadsBusy } from '#platform/postgres/read-database.ts';
import { sendError } from '#services/api/server/send-error.ts';

const replyWith = async (thrown: Error, requests: number) => {
  const logged: string[] = [];
  const note = (_: object, message: string): void => void logged.push(message);
  const log = { warn: note, error: note } as unknown as Log;
  const app = fastify();
  app.get('/', async (_, reply) => sendError(reply, 'req_1', thrown, log));
  const replies = await Promise.all(Array.from({ length: requests }, () => app.inject('/')));
  await app.close();
  return { statuses: [...new Set(replies.map(({ statusCode }) => statusCode))], logged };
};

const coded = (code: string): Error => Object.assign(new Error('fault'), { code });

test('many requests that a full disk makes fail cause one warning', async () => {
  expect(await replyWith(coded('53100'), 50)).toEqual({
    statuses: [503],
    logged: ['request refused because of a server'],
  });
});

test('requests that a busy server cannot take are refused without a word in the log', async () => {
  expect(await replyWith(new ReadsBusy(), 50)).toEqual({ statuses: [503], logged: [] });
});

test('each fault of our own is logged', async () => {
  expect(await replyWith(new TypeError('x is not a function'), 3)).toEqual({
    statuses: [500],
    logged: Array.from({ length: 3 }, () => 'request failed'),
  });
});
