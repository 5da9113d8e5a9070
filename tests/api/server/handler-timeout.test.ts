import { fastify } from 'fastify';
import { expect, test } from 'vitest';

/** Compares timeouts of Fastify (`services/decisions/0014-time-of-reads-and-writes.md`). */

const TIMEOUT_MS = 50;

test('the handler timeout of Fastify ends with the body of a request', async () => {
  const app = fastify();
  const finish = Promise.withResolvers<string>();
  const aborted: boolean[] = [];
  app.post('/', { handlerTimeout: TIMEOUT_MS }, (request) => {
    setImmediate(() => aborted.push(request.signal.aborted));
    return finish.promise;
  });
  app.get('/', { handlerTimeout: TIMEOUT_MS }, () => finish.promise);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const write = fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  expect((await fetch(url)).status).toBe(503);
  // The time of the write is over, too.
  finish.resolve('done');
  expect((await write).status).toBe(200);
  expect(aborted).toEqual([true]);
  await app.close();
});
