import { LRUCache } from 'lru-cache';
import { Agent } from 'undici';
import { z } from 'zod';
import { checkTargetUrl, type TargetRules } from './check-target-url.ts';
import { type ConnectTiming, guardedConnector, type Resolve, resolveByNameServer } from './ssrf-guard.ts';

/** Connections to one host at once; what is more waits for one of them. */
const CONNECTIONS_PER_HOST = 64;
/** Hosts with open connections. Idle ones are closed after a few seconds. */
const KEEP_IDLE_MS = 10_000;
const KEEP_IDLE_MAX_MS = 60_000;
/** An answer begins within this time, and its parts follow one another within it; the caller's own limit is shorter. */
const ANSWER_TIMEOUT_MS = 30_000;
/** New connections whose request has not begun yet. It begins at once, or was given up: then nobody asks for these. */
const FRESH_MAX = 1_000;
const FRESH_MS = 1_000;

/** Targets whose address was read and judged before: nothing in the judgement changes. */
const TARGETS_MAX = 10_000;

/** An address in the parts that a request wants, or what is wrong with it, as a sentence. */
export type Target = { readonly origin: string; readonly path: string } | { readonly fault: string };

export const egressSettings = {
  EGRESS_ALLOW_LOOPBACK: z
    .stringbool()
    .default(false)
    .describe('`true` lets webhooks lead to this machine, by http too: for the local stack and tests.'),
} as const;

/** The way out to addresses that users give. Nothing else in this project calls them. */
export type Egress = AsyncDisposable & {
  readonly rules: TargetRules;
  readonly dispatcher: Agent;
  targetOf(url: string): Target;
  /** The steps of the connection that a request which begins now was opened for; `null` when one was reused. */
  takeTiming(origin: string): ConnectTiming | null;
};

export type EgressOptions = TargetRules & {
  readonly resolve?: Resolve;
  /** Certificates to trust besides, as PEM: of tests. */
  readonly ca?: string;
};

export const openEgress = ({ allowLoopback, resolve, ca }: EgressOptions): Egress => {
  const rules = { allowLoopback };
  const connect = guardedConnector(rules, resolve ?? resolveByNameServer(), ca === undefined ? {} : { ca });
  const fresh: { readonly origin: string; readonly timing: ConnectTiming; readonly atMs: number }[] = [];
  const dispatcher = new Agent({
    connections: CONNECTIONS_PER_HOST,
    pipelining: 1,
    keepAliveTimeout: KEEP_IDLE_MS,
    keepAliveMaxTimeout: KEEP_IDLE_MAX_MS,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
    connect: (options, done) =>
      connect(options, (error, socket, timing) => {
        if (error || !socket) return done(error ?? new Error('no connection'), null);
        const origin = `${options.protocol}//${options.host}`;
        if (timing && fresh.length < FRESH_MAX) fresh.push({ origin, timing, atMs: performance.now() });
        done(null, socket);
      }),
  });
  const targets = new LRUCache<string, Target>({ max: TARGETS_MAX });
  const read = (url: string): Target => {
    const fault = checkTargetUrl(url, rules);
    if (fault !== null) return { fault };
    const { origin, pathname, search } = new URL(url);
    return { origin, path: pathname + search };
  };
  return {
    rules,
    dispatcher,
    targetOf: (url) => {
      const known = targets.get(url);
      if (known) return known;
      const target = read(url);
      targets.set(url, target);
      return target;
    },
    takeTiming: (origin) => {
      if (fresh.length === 0) return null;
      while (fresh[0] !== undefined && fresh[0].atMs < performance.now() - FRESH_MS) fresh.shift();
      const index = fresh.findIndex((one) => one.origin === origin);
      return fresh.splice(index, index < 0 ? 0 : 1)[0]?.timing ?? null;
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
};
