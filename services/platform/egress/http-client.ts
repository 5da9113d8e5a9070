import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Agent } from 'undici';
import { z } from 'zod';
import { loadUndici } from './undici.ts';
import { ownAddressCheck } from './public-address.ts';
import { type TargetRules, checkTargetUrl } from './check-target-url.ts';
import { type ConnectTiming, type Resolve, guardedConnector, resolveByNameServer } from './ssrf-guard.ts';

/**
 * Status line and headers, with interim ones. The client's limit counts names and values only: 64 KiB of short fields
 * took 100 ms of all other receivers.
 */
const HEAD_MAX_BYTES = 16 * 1_024;
/** The client gets pieces until the head is complete; what follows belongs to the body. */
const PIECE_BYTES = 2 * 1_024;

type Answer = { bytes: number; isHead: boolean };

/** A property of sockets and requests. A weak map with an entry for each request costs the garbage collector more. */
const ANSWER = Symbol('answer');
type WithAnswer = { [ANSWER]?: Answer };

// Channels of `undici`. Node's HTTP client has the same, with sockets that are not known here.
subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { readonly request: WithAnswer; readonly socket: WithAnswer };
  const answer = socket[ANSWER];
  if (answer === undefined) return;
  answer.bytes = 0;
  answer.isHead = true;
  request[ANSWER] = answer;
});
subscribe('undici:request:headers', (message) => {
  const { request, response } = message as {
    readonly request: WithAnswer;
    readonly response: { readonly statusCode: number };
  };
  const answer = request[ANSWER];
  if (answer !== undefined && response.statusCode >= 200) answer.isHead = false;
});

/** Ends the connection before the client reads the part of the head that exceeds the limit. */
export const limitAnswerHead = (socket: Socket & WithAnswer): void => {
  const answer: Answer = { bytes: 0, isHead: false };
  socket[ANSWER] = answer;
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  socket.read = (size?: number): Buffer | null => {
    if (!answer.isHead || size !== undefined) return read(size);
    const piece = read(socket.readableLength > PIECE_BYTES ? PIECE_BYTES : undefined);
    answer.bytes += piece?.length ?? 0;
    if (answer.bytes <= HEAD_MAX_BYTES) return piece;
    socket.destroy(new (loadUndici().errors.HeadersOverflowError)());
    return null;
  };
};

/**
 * The limit of all sends at once (`services/delivery/worker.ts`): a stalling receiver holds
 * connections, and no request may wait for another endpoint.
 */
const CONNECTIONS_PER_HOST = 512;
/** Idle connections are closed after this. */
const KEEP_IDLE_MS = 10_000;
/** Longest idle time that a server can request. */
const KEEP_IDLE_MAX_MS = 60_000;
/** Limit until the headers, and between parts of the body. Callers have shorter limits of their own. */
const ANSWER_TIMEOUT_MS = 30_000;
/** Maximum timings kept of new connections whose request has not started. */
const FRESH_MAX = 1_000;
/** A request starts at once, or was cancelled and never reads its timing. */
const FRESH_MS = 1_000;

/** Cached URL checks, whose result never changes. */
const TARGETS_MAX = 10_000;

/** Parts of a checked URL, or its fault as a sentence. */
export type Target = { readonly origin: string; readonly path: string } | { readonly fault: string };

export const egressSettings = {
  EGRESS_ALLOW_LOOPBACK: z
    .stringbool()
    .default(false)
    .describe('`true` allows webhooks to loopback addresses, also with http; for the local stack and tests.'),
  EGRESS_OWN_ADDRESSES: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    )
    .pipe(z.array(z.union([z.ipv4(), z.ipv6()])))
    .describe(
      'Public addresses of this machine that the network translates to it, comma-separated. Webhooks to them are refused, as to the addresses of its interfaces.',
    ),
} as const;

export type Egress = AsyncDisposable & {
  readonly rules: TargetRules;
  readonly dispatcher: Agent;
  targetOf(url: string): Target;
  /** Removes the timing of the connection opened for a request starting now; `null` when the request reuses one. */
  takeTiming(origin: string): ConnectTiming | null;
};

export type EgressOptions = TargetRules & {
  readonly resolve?: Resolve;
  /** The network translates these to this machine, and no interface has them. */
  readonly ownAddresses?: readonly string[];
  /** PEM certificates trusted in tests. */
  readonly ca?: string;
};

export const openEgress = ({ allowLoopback, resolve, ca, ownAddresses }: EgressOptions): Egress => {
  const rules = { allowLoopback };
  const isOwnAddress = ownAddressCheck(ownAddresses);
  const fresh: { readonly origin: string; readonly timing: ConnectTiming; readonly atMs: number }[] = [];
  const openAgent = (): Agent => {
    const tls = ca === undefined ? {} : { ca };
    const connect = guardedConnector(rules, resolve ?? resolveByNameServer(), tls, isOwnAddress);
    return new (loadUndici().Agent)({
      connections: CONNECTIONS_PER_HOST,
      pipelining: 1,
      keepAliveTimeout: KEEP_IDLE_MS,
      keepAliveMaxTimeout: KEEP_IDLE_MAX_MS,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
      connect: (options, done) =>
        connect(options, (error, socket, timing) => {
          if (error || !socket) return done(error ?? new Error('No connection.'), null);
          const origin = `${options.protocol}//${options.host}`;
          if (timing && fresh.length < FRESH_MAX) fresh.push({ origin, timing, atMs: performance.now() });
          limitAnswerHead(socket);
          done(null, socket);
        }),
    });
  };
  let agent: Agent | null = null;
  const targets = new LRUCache<string, Target>({ max: TARGETS_MAX });
  const parseTarget = (url: string): Target => {
    const fault = checkTargetUrl(url, rules);
    if (fault !== null) return { fault };
    const { origin, pathname, search } = new URL(url);
    return { origin, path: pathname + search };
  };
  return {
    rules,
    get dispatcher() {
      return (agent ??= openAgent());
    },
    targetOf: (url) => {
      const cached = targets.get(url);
      if (cached) return cached;
      const target = parseTarget(url);
      targets.set(url, target);
      return target;
    },
    takeTiming: (origin) => {
      if (fresh.length === 0) return null;
      while (fresh[0] !== undefined && fresh[0].atMs < performance.now() - FRESH_MS) fresh.shift();
      const index = fresh.findIndex((one) => one.origin === origin);
      return fresh.splice(index, index < 0 ? 0 : 1)[0]?.timing ?? null;
    },
    [Symbol.asyncDispose]: async () => {
      await agent?.destroy();
    },
  };
};
