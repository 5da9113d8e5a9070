import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startFaultProxy } from '../fault-proxy.ts';

/** Server that sends back all that it receives, behind a proxy. */
const startEcho = async () => {
  const resources = new AsyncDisposableStack();
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    accepted.push(socket);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  resources.defer(() => void server.close());
  const { port } = server.address() as { port: number };
  const proxy = resources.use(await startFaultProxy({ host: '127.0.0.1', port }));
  /** Opens a connection, and waits for its first answer. */
  const open = async (): Promise<Socket> => {
    const client = connect(proxy.port, '127.0.0.1');
    client.on('error', () => undefined);
    resources.defer(() => void client.destroy());
    client.write('first');
    await once(client, 'data');
    return client;
  };
  return { proxy, accepted, open, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

const heardBy = (socket: Socket): readonly string[] => {
  const heard: string[] = [];
  for (const event of ['data', 'end', 'close', 'error']) socket.on(event, () => heard.push(event));
  return heard;
};

test('a half-open client hears nothing, also when the server has ended its side, until the fault ends', async () => {
  await using echo = await startEcho();
  const client = await echo.open();
  const heard = heardBy(client);
  const [served] = echo.accepted as [Socket];
  echo.proxy.halfOpen(0);
  client.write('lost');
  await once(served, 'close');
  // A reset, an end of all connections and a passing network do not reach it either.
  echo.proxy.reset();
  echo.proxy.set('cut');
  echo.proxy.set('pass');
  await echo.open();
  expect(heard).toEqual([]);
  const closed = once(client, 'close');
  echo.proxy.endFaults();
  await closed;
});

test('the server of a half-open connection hears nothing of the end of its client', async () => {
  await using echo = await startEcho();
  const client = await echo.open();
  const [served] = echo.accepted as [Socket];
  const heard = heardBy(served);
  echo.proxy.halfOpen();
  client.destroy();
  await once(client, 'close');
  await echo.open();
  expect(heard).toEqual([]);
});

test('connections that are opened after half-open ones are forwarded', async () => {
  await using echo = await startEcho();
  await echo.open();
  echo.proxy.halfOpen();
  const client = await echo.open();
  client.write('more');
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect(answer.toString()).toBe('more');
});
