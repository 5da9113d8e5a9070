import { type FastifyReply, type FastifyInstance, type FastifyRequest, fastify } from 'fastify';
import type { DetailCode, ErrorDetail } from '#contracts/errors.ts';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { acceptedEncoding, COMPRESS, COMPRESSED_MIN_BYTES, type Encoding } from './encoding.ts';
import { requestIdOf } from './request-headers.ts';

/** `type` and `status` come from the error table of the process (`contracts/errors.ts` for the API). */
export const errorBody = (
  type: string,
  status: number,
  message: string,
  requestId: string,
  details: readonly ErrorDetail<string>[],
): string =>
  JSON.stringify({
    error: { type, message, status, request_id: requestId, ...(details.length > 0 ? { details } : {}) },
  });

export const JSON_CONTENT = 'application/json; charset=utf-8';

export type Headers = Record<string, string | number>;

/** Replies of the same route whose encoding depends on the request say so to caches. */
const varyWith = (reply: FastifyReply): string => {
  const before = reply.raw.getHeader('vary');
  return before === undefined ? 'accept-encoding' : `${before as string}, accept-encoding`;
};

const sendEncoded = async (
  reply: FastifyReply,
  status: number,
  headers: Headers,
  body: string,
  encoding: Encoding,
): Promise<void> => {
  reply.hijack();
  reply.raw.statusCode = status;
  try {
    const content = await COMPRESS[encoding](Buffer.from(body));
    headers['content-type'] = JSON_CONTENT;
    headers['content-encoding'] = encoding;
    headers['content-length'] = content.length;
    reply.raw.writeHead(status, headers).end(content);
  } catch {
    reply.raw.destroy();
  }
};

/**
 * Pure ASCII text is copied as latin1, which is faster than UTF-8 encoding. `mayCompress` is never set for a reply with
 * a secret, whose length would tell of it (BREACH).
 */
export const send = (
  reply: FastifyReply,
  status: number,
  headers: Headers,
  body: string,
  { mayCompress = false }: { readonly mayCompress?: boolean } = {},
): void => {
  // A request whose time ran out was answered then.
  if (reply.raw.headersSent) return;
  if (mayCompress) headers['vary'] = varyWith(reply);
  const bytes = Buffer.byteLength(body);
  if (mayCompress && bytes >= COMPRESSED_MIN_BYTES) {
    const encoding = acceptedEncoding(reply.request.headers['accept-encoding']?.toString());
    if (encoding !== null) {
      void sendEncoded(reply, status, headers, body, encoding);
      return;
    }
  }
  if (bytes > 0) headers['content-type'] = JSON_CONTENT;
  if (status !== 304) headers['content-length'] = bytes;
  reply.hijack();
  reply.raw.writeHead(status, headers).end(body, bytes === body.length ? 'latin1' : 'utf8');
};

const CLOSE_EVERY_MS = 50;

/** Call the result when the server stops: Node would wait for connections that a browser opened and never used. */
export const closeIdleConnections = (server: Server): (() => void) => {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const close = (): void => {
    server.closeIdleConnections();
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
  return () => {
    close();
    const closing = setInterval(close, CLOSE_EVERY_MS);
    closing.unref();
    server.once('close', () => clearInterval(closing));
  };
};

/** Longer than the idle timeout of load balancers, so that they close a connection first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Applies while a request is in progress, such as of a client that reads no reply. */
const CLIENT_SILENCE_MS = 60_000;
/** A key, cursors and a trace context are far smaller. */
const HEADERS_MAX_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const TIMEOUT_CHECK_MS = 1_000;
/** Limit of unanswered requests; common clients send the next request after a reply. */
export const PIPELINED_MAX = 32;
const BLANK_LINE = '\r\n\r\n';

export type HttpServerOptions = {
  readonly bodyMaxBytes: number;
  readonly pathParameterMaxLength: number;
  readonly requestTimeoutMs: number;
  /** Closes a silent connection with a request in progress; a minute when absent. */
  readonly clientSilenceMs?: number;
  /** Addresses or ranges whose `x-forwarded-for` counts; none when absent. */
  readonly trustedProxies?: readonly string[];
  /** Returns the address that is served for the one of a request; the same when absent. */
  readonly rewriteUrl?: (url: string) => string;
  /** Replies to a request that the framework refuses, such as for a malformed URL. */
  readonly onFrameworkError: (request: FastifyRequest, reply: FastifyReply, error: unknown) => void;
};

type Unreadable = { readonly status: string; readonly message: string; readonly code: DetailCode };
const NOT_HTTP: Unreadable = {
  status: '400 Bad Request',
  message: 'Malformed HTTP request.',
  code: 'not_http',
};
/** By the code of Node's error. */
const UNREADABLE: Readonly<Record<string, Unreadable>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: `The address and the headers of a request may have ${HEADERS_MAX_BYTES} bytes in all. Send fewer or shorter ones.`,
    code: 'headers_too_large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'The request did not arrive in time. Send it again.',
    code: 'request_timeout',
  },
};

/** Replies to bytes that are no request to Node. */
const replyToMalformedRequest = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (!socket.writable) return;
  const requestId = requestIdOf(undefined);
  const { status, message, code } = UNREADABLE[error.code ?? ''] ?? NOT_HTTP;
  const details = [{ path: '', message, code }];
  const body = errorBody('bad_request', Number.parseInt(status, 10), message, requestId, details);
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: ${JSON_CONTENT}\r\nx-request-id: ${requestId}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
};

/** Returns the length of the packet when it has fewer blank lines. */
const placeBehind = (packet: Buffer, from: number, count: number): number => {
  let place = from;
  for (let found = 0; found < count; found += 1) {
    const next = packet.indexOf(BLANK_LINE, place);
    if (next === -1) return packet.length;
    place = next + BLANK_LINE.length;
  }
  return place;
};

/**
 * Bounds the requests that wait on a connection; the last reply closes it (RFC 9112, section 9.6). Node parses a whole
 * packet of up to 2,000 requests, so the parser gets it in parts.
 */
const boundPipelines = (server: Server): void => {
  type Connection = { waiting: number; last: IncomingMessage | null };
  const connections = new WeakMap<Socket, Connection>();
  server.on('connection', (socket: Socket) => {
    const connection: Connection = { waiting: 0, last: null };
    connections.set(socket, connection);
    const [parse] = socket.listeners('data') as ((packet: Buffer) => void)[];
    if (!parse) return;
    socket.removeListener('data', parse);
    socket.on('data', (packet: Buffer) => {
      for (let from = 0; from < packet.length; ) {
        if (connection.last?.complete || socket.destroyed) return;
        // Node pauses a connection whose client does not read.
        if (socket.isPaused()) {
          socket.unshift(packet.subarray(from));
          return;
        }
        const to = placeBehind(packet, from, Math.max(1, PIPELINED_MAX - connection.waiting));
        parse(packet.subarray(from, to));
        from = to;
      }
    });
  });
  const [serve] = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, reply: ServerResponse) => {
    const connection = connections.get(request.socket);
    if (connection) {
      if (connection.last) return;
      connection.waiting += 1;
      reply.once('close', () => (connection.waiting -= 1));
      if (connection.waiting === PIPELINED_MAX) {
        connection.last = request;
        reply.shouldKeepAlive = false;
      }
    }
    serve?.(request, reply);
  });
};

/** The server has no routes yet. */
export const createHttpServer = ({
  bodyMaxBytes,
  pathParameterMaxLength,
  requestTimeoutMs,
  clientSilenceMs = CLIENT_SILENCE_MS,
  trustedProxies = [],
  rewriteUrl = (url) => url,
  onFrameworkError,
}: HttpServerOptions): FastifyInstance => {
  const app = fastify({
    bodyLimit: bodyMaxBytes,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    rewriteUrl: ({ url = '/' }: IncomingMessage) => rewriteUrl(url),
    routerOptions: { maxParamLength: pathParameterMaxLength },
    requestTimeout: requestTimeoutMs,
    connectionTimeout: clientSilenceMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: {
      maxHeaderSize: HEADERS_MAX_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Node would refuse a request without Host and send no body.
      requireHostHeader: false,
    },
    return503OnClosing: false,
    exposeHeadRoutes: false,
    clientErrorHandler: replyToMalformedRequest,
    frameworkErrors: (error, request, reply) =>
      onFrameworkError(request as FastifyRequest, reply as FastifyReply, error),
  });
  // Ignores expectations other than `100-continue`, as RFC 9110, section 10.1.1, allows.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  boundPipelines(app.server);
  const closeIdle = closeIdleConnections(app.server);
  app.addHook('preClose', async () => closeIdle());
  return app;
};
