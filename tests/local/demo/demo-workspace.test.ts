import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { isKeyValid } from '#deploy/local/demo/workspace.ts';

const check = async (...statuses: readonly number[]) => {
  const left = [...statuses];
  const server = createServer((_request, response) => {
    response.writeHead(left.shift() ?? 500).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const isValid = await isKeyValid(url, { api_key: 'key' }, new AbortController().signal);
  server.close();
  server.closeAllConnections();
  return { isValid, left };
};

test('the key of an earlier start is kept when a busy API accepts it later', async () => {
  expect(await check(503, 500, 200)).toEqual({ isValid: true, left: [] });
});

test('a key that the API refuses is not valid', async () => {
  expect(await check(503, 401, 200)).toEqual({ isValid: false, left: [200] });
});
