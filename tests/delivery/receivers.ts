import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Received = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly atMs: number;
};

export type Behaviour = (response: ServerResponse, socket: Socket) => void;

const DRIP_MS = 200;

export const answers =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Behaviour =>
  (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
export const hangs: Behaviour = () => undefined;
export const closes: Behaviour = (_, socket) => void socket.destroy();
export const answersNoHttp: Behaviour = (_, socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n');
/** Behaviour that never finishes its headers. */
export const dripsHead: Behaviour = (_, socket) => {
  socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
  const timer = setInterval(() => socket.write('a'), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
};
/** Behaviour that sends its body without end. */
export const dripsBody =
  (status: number): Behaviour =>
  (response, socket) => {
    response.writeHead(status, { 'content-type': 'text/plain' });
    const timer = setInterval(() => response.write('a'), DRIP_MS);
    socket.once('close', () => clearInterval(timer));
  };
export const answersLarge =
  (status: number, bytes: number): Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-length': bytes });
    response.end(Buffer.alloc(bytes, 'x'));
  };

export type Receivers = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** Sets one behaviour per request; the last repeats. Default: 204. */
  behave(path: string, ...behaviours: readonly Behaviour[]): void;
  at(path: string): readonly Received[];
};

const take =
  (received: Received[], behaviours: Map<string, readonly Behaviour[]>, counts = new Map<string, number>()) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const nth = counts.get(path) ?? 0;
      counts.set(path, nth + 1);
      const headers = request.headers as Record<string, string>;
      received.push({ path, headers, body: Buffer.concat(chunks), atMs: performance.now() });
      const responses = behaviours.get(path) ?? [answers(204)];
      responses[Math.min(nth, responses.length - 1)]?.(response, request.socket);
    });
  };

const listen = async (server: Server, scheme: string): Promise<Omit<Receivers, keyof AsyncDisposable>> => {
  const received: Received[] = [];
  const behaviours = new Map<string, readonly Behaviour[]>();
  server.on('request', take(received, behaviours));
  server.on('connection', (socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    received,
    behave: (path, ...asked) => void behaviours.set(path, asked),
    at: (path) => received.filter((one) => one.path === path),
  };
};

const closing = (server: Server): AsyncDisposable => ({
  [Symbol.asyncDispose]: async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
});

export const openReceivers = async (): Promise<Receivers> => {
  const server = createServer();
  return { ...(await listen(server, 'http')), ...closing(server) };
};

/** Starts HTTPS receivers with a self-signed certificate for this name and others. */
export const openTlsReceivers = async (
  name: string,
  others: readonly string[] = [],
): Promise<Receivers & { readonly ca: string }> => {
  const folder = mkdtempSync(join(tmpdir(), 'receivers-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = [name, ...others].map((one) => `DNS:${one}`).join(',');
  execFileSync(
    'openssl',
    `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${name} -addext subjectAltName=${names} -keyout ${key} -out ${cert}`.split(
      ' ',
    ),
    { stdio: 'ignore' },
  );
  const ca = readFileSync(cert, 'utf8');
  const server = createTlsServer({ key: readFileSync(key), cert: ca });
  rmSync(folder, { recursive: true, force: true });
  return {
    ...(await listen(server, 'https')),
    ca,
    ...closing(server),
  };
};
