import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { closeIdleConnections, createHttpServer } from '#platform/http/http-server.ts';

/** Opens a server whose idle connections stay open long. */
const open = async () => {
  const asked = Promise.withResolvers<void>();
  const replies = Promise.withResolvers<void>();
  const server = createServer(
    { keepAliveTimeout: 600_000, headersTimeout: 600_000, requestTimeout: 600_000 },
    (_request, response) => {
      asked.resolve();
      void replies.promise.then(() => response.end('done'));
    },
  );
  const closeIdle = closeIdleConnections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const accept = async (): Promise<Socket> => {
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1');
    await Promise.all([once(socket, 'connect'), accepted]);
    return socket;
  };
  const stop = (): Promise<unknown> => {
    const closed = once(server, 'close');
    server.close();
    closeIdle();
    return closed;
  };
  return { accept, stop, asked: asked.promise, reply: replies.resolve };
};

test('a stop does not wait for a connection without a request', async () => {
  const { accept, stop } = await open();
  const socket = await accept();
  const ended = once(socket, 'close');
  await stop();
  await ended;
});

test('a stop waits for the reply in progress, and not for its connection', async () => {
  const { accept, stop, asked, reply } = await open();
  const socket = await accept();
  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
  });
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await asked;
  const stopped = stop();
  const ended = once(socket, 'close');
  reply();
  await Promise.all([stopped, ended]);
  expect(received).toContain('done');
});

test('a client that does not read its reply is cut off, and its file is closed', async () => {
  await using server = createHttpServer({
    bodyMaxBytes: 1_024,
    pathParameterMaxLength: 100,
    requestTimeoutMs: 10_000,
    clientSilenceMs: 300,
    onFrameworkError: () => undefined,
  });
  const closed = Promise.withResolvers<void>();
  server.get('/', (_request, reply) => {
    const endless = new Readable({ read: () => void endless.push(Buffer.alloc(65_536)) });
    endless.on('error', () => undefined).once('close', closed.resolve);
    return reply.send(endless);
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await closed.promise;
  socket.destroy();
});
