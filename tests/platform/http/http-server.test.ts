import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createHttpServer, PIPELINED_MAX } from '#platform/http/http-server.ts';

const REPLY_BYTES = 100_000;

const open = async () => {
  const app = createHttpServer({
    bodyMaxBytes: 1_000_000,
    pathParameterMaxLength: 100,
    requestTimeoutMs: 10_000,
    onFrameworkError: (_request, reply) => void reply.status(400).send(),
  });
  const served: string[] = [];
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.get('/large', (request) => {
    served.push(request.url);
    return 'a'.repeat(REPLY_BYTES);
  });
  app.route({
    method: ['GET', 'POST'],
    url: '/*',
    handler: async ({ url, body }) => {
      served.push(url);
      await new Promise(setImmediate);
      return `reply to ${url} ${((body ?? '') as string).length}`;
    },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const connection = async (): Promise<Socket> => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  return { served, connection, [Symbol.asyncDispose]: () => app.close() };
};

const get = (url: string): string => `GET ${url} HTTP/1.1\r\nhost: a\r\n\r\n`;
const post = (url: string, body: string): string =>
  `POST ${url} HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const paths = (count: number): readonly string[] => Array.from({ length: count }, (_, place) => `/${place}`);

test('a connection with too many waiting requests gets replies to as many as may wait, and is closed', async () => {
  await using server = await open();
  const socket = await server.connection();
  socket.write(paths(2_500).map(get).join(''));
  const replies = (await text(socket)).split('HTTP/1.1 200 OK').slice(1);
  expect(server.served).toEqual(paths(PIPELINED_MAX));
  expect(replies.map((reply) => /reply to (\S+)/.exec(reply)?.[1])).toEqual(server.served);
  expect(replies.filter((reply) => /connection: close/i.test(reply))).toEqual([replies.at(-1)]);
});

test('the body of the last request that may wait is read, and no request after it', async () => {
  await using server = await open();
  const socket = await server.connection();
  const body = 'one\r\n\r\n'.repeat(50_000);
  const before = paths(PIPELINED_MAX - 1);
  socket.write(before.map(get).join('') + post('/last', body) + get('/more').repeat(100));
  const replies = await text(socket);
  expect(server.served).toEqual([...before, '/last']);
  expect(replies).toContain(`reply to /last ${body.length}`);
});

test('a client that awaits replies keeps its connection for any number of requests, sent in parts of any size', async () => {
  await using server = await open();
  const socket = await server.connection();
  let received = '';
  socket.setEncoding('latin1').on('data', (part: string) => (received += part));
  for (const [place, path] of paths(3 * PIPELINED_MAX).entries()) {
    const request = post(path, '\r\n\r\n'.repeat(place));
    const cut = place % request.length;
    socket.write(request.slice(0, cut));
    await new Promise(setImmediate);
    socket.write(request.slice(cut));
    await expect.poll(() => received, { interval: 1 }).toContain(`reply to ${path} ${4 * place}`);
  }
  expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3 * PIPELINED_MAX);
  socket.destroy();
});

test('requests of a client that reads late are answered when it reads', async () => {
  await using server = await open();
  const socket = await server.connection();
  const count = PIPELINED_MAX - 1;
  socket.pause();
  for (let sent = 0; sent < count; sent += 1) {
    socket.write(get('/large'));
    await new Promise(setImmediate);
  }
  socket.end();
  const replies = await text(socket);
  expect(replies.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(count);
  expect(replies.length).toBeGreaterThan(count * REPLY_BYTES);
});
