import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { openEgress } from '#platform/egress/http-client.ts';
import { runs } from '#tests/property-seed.ts';

const LIMIT_BYTES = 16 * 1_024;
const BODY = Buffer.alloc(300_000, 'b');
const END = '\r\n\r\n';

let connections = 0;
let parts: readonly (string | Buffer)[] = [];

const server = createServer((socket: Socket) => {
  connections += 1;
  socket.on('error', () => undefined);
  socket.on('data', () => {
    for (const part of parts) socket.write(part);
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const egress = openEgress({ allowLoopback: true });
afterAll(async () => {
  await egress[Symbol.asyncDispose]();
  server.close();
});

const request = async (...written: readonly (string | Buffer)[]) => {
  parts = written;
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { statusCode, body } = await egress.dispatcher.request({ origin, path: '/', method: 'GET' });
  return { statusCode, bytes: (await body.arrayBuffer()).byteLength };
};
const headOf = (bytes: number): string => {
  const start = `HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\nx: `;
  return `${start}${'x'.repeat(bytes - start.length - END.length)}${END}`;
};
const OVERFLOW = { code: 'UND_ERR_HEADERS_OVERFLOW' };

test('a body that follows its head in one packet is complete', async () => {
  expect(await request(Buffer.concat([Buffer.from(headOf(200)), BODY]))).toEqual({
    statusCode: 200,
    bytes: BODY.length,
  });
});

test('each response of a connection has the whole limit', async () => {
  connections = 0;
  const head = headOf(LIMIT_BYTES * 0.8);
  for (let count = 0; count < 3; count += 1)
    expect(await request(head, BODY)).toEqual({ statusCode: 200, bytes: BODY.length });
  expect(connections).toBeLessThanOrEqual(1);
});

test('short fields count with all their bytes', async () => {
  const fields = 'a:b\r\n'.repeat(LIMIT_BYTES / 5);
  await expect(request(`HTTP/1.1 200 OK\r\n${fields}content-length: 0${END}`)).rejects.toMatchObject(
    OVERFLOW,
  );
});

test('interim responses count', async () => {
  const interim = `HTTP/1.1 103 Early Hints\r\nx: ${'x'.repeat(LIMIT_BYTES / 4)}${END}`;
  await expect(request(interim.repeat(4), headOf(200), BODY)).rejects.toMatchObject(OVERFLOW);
});

test('a response arrives whole or is refused for its head, however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 100, max: LIMIT_BYTES + 5_000 }),
      fc.array(fc.integer({ min: 1, max: 20_000 }), { maxLength: 8 }),
      async (headBytes, cuts) => {
        const all = Buffer.concat([Buffer.from(headOf(headBytes)), BODY]);
        const written = [...cuts, all.length].map((size, index) => {
          const from = cuts.slice(0, index).reduce((sum, cut) => sum + cut, 0);
          return all.subarray(from, from + size);
        });
        const response = request(...written);
        // A piece of the body can count with the head.
        if (headBytes > LIMIT_BYTES) await expect(response).rejects.toMatchObject(OVERFLOW);
        else if (headBytes < LIMIT_BYTES - 2_048)
          expect(await response).toEqual({ statusCode: 200, bytes: BODY.length });
        else await response.catch((error: unknown) => expect(error).toMatchObject(OVERFLOW));
      },
    ),
    { numRuns: runs(60) },
  );
});
