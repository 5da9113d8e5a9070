import { createServer, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

/** Runs in a thread, so that its time is not the sender's. The path chooses the behaviour; others get 204. */

/** `id`: header `webhook-id`, empty without one. `atMs`: since 1970 with a fraction, shared by all threads. */
export type Arrival = { readonly kind: string; readonly id: string; readonly atMs: number };

const DRIP_MS = 1_000;
const FLOOD = Buffer.alloc(64 * 1_024, 'x');
const INTERIM = Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n'.repeat(200));
const HEADER = Buffer.from(`x-more: ${'a'.repeat(1_000)}\r\n`.repeat(30));
const FIELDS = Buffer.from('a:b\r\n'.repeat(10_000));
const GIGABYTE = 1024 ** 3;

const flood = (socket: Socket, bytes: Buffer): void => {
  const write = (): void => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', write);
  write();
};

const drip = (socket: Socket): void => {
  const timer = setInterval(() => socket.write('a'), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
};

const BEHAVIOURS: Readonly<Record<string, (socket: Socket) => void>> = {
  stalls: () => undefined,
  drips: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
    drip(socket);
  },
  'drips-body': (socket) => {
    socket.write('HTTP/1.1 500 No\r\ncontent-type: text/plain\r\n\r\n');
    drip(socket);
  },
  interim: (socket) => flood(socket, INTERIM),
  headers: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    flood(socket, HEADER);
  },
  fields: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    flood(socket, FIELDS);
  },
  gigabyte: (socket) => {
    socket.write(`HTTP/1.1 500 No\r\ncontent-length: ${GIGABYTE}\r\n\r\n`);
    flood(socket, FLOOD);
  },
  redirects: (socket) =>
    void socket.write('HTTP/1.1 302 Found\r\nlocation: /redirects\r\ncontent-length: 0\r\n\r\n'),
};

const answerWell = (socket: Socket): void => void socket.write('HTTP/1.1 204 No Content\r\n\r\n');

const server = createServer((socket) => {
  socket.on('error', () => undefined);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    const bodyBytes = Number(/\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (end < 0 || text.length < end + 4 + bodyBytes) return;
    const kind = /^POST \/([\w-]+)/.exec(text)?.[1] ?? '';
    const id = /\nwebhook-id: ([\w-]+)/i.exec(text)?.[1] ?? '';
    text = '';
    const arrival: Arrival = { kind, id, atMs: performance.timeOrigin + performance.now() };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker thread has none
    parentPort?.postMessage(arrival);
    (BEHAVIOURS[kind] ?? answerWell)(socket);
  });
});
server.listen(0, '127.0.0.1', () => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker thread has none
  parentPort?.postMessage((server.address() as { port: number }).port);
});
