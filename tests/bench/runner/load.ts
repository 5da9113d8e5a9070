import { once } from 'node:events';
import { connect } from 'node:net';
import { percentile } from './bench.ts';

/**
 * A process with one request in flight per connection, controlled over IPC. Replies after `durationMs`, or to `take`.
 */
export interface Load {
  readonly origin: string;
  readonly paths: readonly string[];
  readonly key: string | null;
  readonly connections: number;
  /** `null`: until the process ends. */
  readonly durationMs: number | null;
  /** Fixed rate of a connection, so that slow responses do not reduce the load; 0 sends at once. */
  readonly paceMs?: number;
  readonly status: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failed: number;
  readonly fault: string | null;
}

let latencies: number[] = [];
let failed = 0;
let fault: string | null = null;
let startMs = 0;

const take = (): LoadResult => {
  const elapsedMs = performance.now() - startMs;
  const times = { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
  const result = { requests: latencies.length, elapsedMs, ...times, failed, fault };
  latencies = [];
  failed = 0;
  fault = null;
  startMs = performance.now();
  return result;
};

const HEAD_END = Buffer.from('\r\n\r\n');

type Answer = { readonly status: number; readonly body: string };

/** Sends one request at a time over a socket and reads no more of the reply than its length: a client costs less than the servers. */
const openConnection = async ({ origin, key, status: expected }: Load) => {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  const headers = `host: ${hostname}\r\n${key === null ? '' : `authorization: Bearer ${key}\r\n`}\r\n`;
  let settle: ((answer: Answer | Error) => void) | null = null;
  let head: Buffer = Buffer.alloc(0);
  let status = 0;
  let missing = 0;
  let body: Buffer[] = [];
  const finish = (answer: Answer | Error): void => {
    const settled = settle;
    settle = null;
    head = Buffer.alloc(0);
    body = [];
    settled?.(answer);
  };
  const takeBody = (bytes: Buffer): void => {
    missing -= bytes.length;
    if (status !== expected) body.push(bytes);
    if (missing === 0) finish({ status, body: Buffer.concat(body).toString('utf8') });
  };
  socket.on('data', (bytes: Buffer) => {
    if (missing > 0) return takeBody(bytes);
    head = head.length === 0 ? bytes : Buffer.concat([head, bytes]);
    const end = head.indexOf(HEAD_END);
    if (end === -1) return;
    const text = head.toString('latin1', 0, end);
    status = Number(text.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    if (length === undefined) return finish(new Error(`a reply without content-length: ${text}`));
    missing = Number(length);
    takeBody(head.subarray(end + HEAD_END.length));
  });
  socket.on('error', finish);
  socket.on('close', () => finish(new Error('the connection was closed')));
  return {
    get: (path: string): Promise<Answer | Error> =>
      new Promise((resolve) => {
        settle = resolve;
        if (!socket.writable) return finish(new Error('the connection is closed'));
        socket.write(`GET ${path} HTTP/1.1\r\n${headers}`, 'latin1');
      }),
    close: (): void => void socket.destroy(),
  };
};

const send = async (load: Load): Promise<void> => {
  const { connections: count, paths, paceMs = 0 } = load;
  const connections = await Promise.all(Array.from({ length: count }, () => openConnection(load)));
  let requestCount = 0;
  take();
  const endMs = load.durationMs === null ? Number.POSITIVE_INFINITY : startMs + load.durationMs;
  const sendAll = async (connection: (typeof connections)[number], number: number): Promise<void> => {
    let nextMs = startMs + (number / count) * paceMs;
    while (performance.now() < endMs) {
      if (paceMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, nextMs - performance.now())));
        nextMs = Math.max(performance.now(), nextMs + paceMs);
      }
      requestCount += 1;
      const path = paths[requestCount % paths.length] ?? '/';
      const sentMs = performance.now();
      const answer = await connection.get(path);
      latencies.push(performance.now() - sentMs);
      if (!(answer instanceof Error) && answer.status === load.status) continue;
      failed += 1;
      fault ??= `${path}: ${answer instanceof Error ? String(answer) : `${answer.status} ${answer.body.slice(0, 300)}`}`;
      if (answer instanceof Error) return;
    }
  };
  await Promise.all(connections.map(sendAll));
  const result = take();
  for (const connection of connections) connection.close();
  process.send?.(result);
};

if (import.meta.main) {
  process.on('message', (message: Load | 'take') => {
    if (message === 'take') process.send?.(take());
    else void send(message);
  });
}
