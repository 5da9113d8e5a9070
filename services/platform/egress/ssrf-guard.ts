import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { isGloballyReachable, isLoopback } from './public-address.ts';
import type { TargetRules } from './check-target-url.ts';

/** Resolving, connecting and TLS together. */
export const CONNECT_TIMEOUT_MS = 5_000;
const RESOLVE_TIMEOUT_MS = 2_000;
const RESOLVE_TRIES = 2;
/** Addresses of one name that are looked at; a name with more is refused, not cut. */
const ADDRESSES_MAX = 64;

/** A target that we do not call, whatever it would answer. */
export class BlockedTarget extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'BlockedTarget';
  }
}

export type ResolvedAddress = { readonly address: string; readonly family: 4 | 6 };
/** All addresses of a name, of both families. Rejects with a DNS error code where there are none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/**
 * Asks name servers directly: `getaddrinfo` would run in the few threads that the whole process shares, where one
 * name server that does not answer holds everybody up.
 */
export const resolveByNameServer = (): Resolve => {
  const resolver = new Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: RESOLVE_TRIES });
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found: ResolvedAddress[] = [
      ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 as const })),
      ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 as const })),
    ];
    if (found.length > 0) return found;
    throw v4.status === 'rejected' ? v4.reason : new Error(`no address of ${hostname}`);
  };
};

/** How long each step of a new connection took, in milliseconds; `null` where there was no such step. */
export type ConnectTiming = {
  readonly dns_ms: number | null;
  readonly connect_ms: number;
  readonly tls_ms: number | null;
};

export type Connected = (error: Error | null, socket: Socket | null, timing: ConnectTiming | null) => void;

const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Connects to checked addresses only. A name is resolved once; if any of its addresses is not globally reachable, all
 * are refused; and it is those addresses that are connected to, so that a second answer of the name server plays no
 * part. The name stays the one that TLS asks for. What the socket has reached in the end is checked once more.
 */
export const guardedConnector = (
  { allowLoopback }: TargetRules,
  resolve: Resolve,
  tls: { readonly ca?: string } = {},
) => {
  const permits = (address: string): boolean =>
    isGloballyReachable(address) || (allowLoopback && isLoopback(address));

  const checked = async (hostname: string): Promise<readonly ResolvedAddress[]> => {
    // A resolver does not know this name, and nothing may make it mean another machine (RFC 6761).
    const addresses = allowLoopback && hostname === 'localhost' ? LOOPBACK : await resolve(hostname);
    if (addresses.length === 0 || addresses.length > ADDRESSES_MAX) {
      throw new BlockedTarget(`The name has ${addresses.length} addresses.`);
    }
    const refused = addresses.find(({ address }) => !permits(address));
    if (refused) throw new BlockedTarget('The name leads to an address that is not on the public internet.');
    return addresses;
  };

  const answerLookup = async (...[hostname, options, answer]: Parameters<LookupFunction>): Promise<void> => {
    let addresses: readonly ResolvedAddress[];
    try {
      addresses = await checked(hostname);
    } catch (error) {
      answer(error as Error, '');
      return;
    }
    if (options.all) answer(null, [...addresses]);
    else answer(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };
  const lookup: LookupFunction = (...asked) => void answerLookup(...asked);
  const connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup, allowH2: false, ...tls });

  return (options: buildConnector.Options, done: Connected): void => {
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    // Node looks literals up nowhere, so the look-up does not see them.
    if (isIP(host) !== 0 && !permits(host)) {
      queueMicrotask(() =>
        done(new BlockedTarget('This address is not on the public internet.'), null, null),
      );
      return;
    }
    const startedMs = performance.now();
    let resolvedMs: number | null = null;
    let connectedMs: number | null = null;
    const opening = connector(options, (error, socket) => {
      if (error) return done(error, null, null);
      if (!permits(socket.remoteAddress ?? '')) {
        socket.destroy();
        return done(new BlockedTarget('The connection led to an address that was not checked.'), null, null);
      }
      const nowMs = performance.now();
      const reachedMs = connectedMs ?? nowMs;
      done(null, socket, {
        dns_ms: resolvedMs === null ? null : resolvedMs - startedMs,
        connect_ms: reachedMs - (resolvedMs ?? startedMs),
        tls_ms: options.protocol === 'https:' ? nowMs - reachedMs : null,
      });
    }) as unknown as Socket;
    opening.once('lookup', () => {
      resolvedMs = performance.now();
    });
    opening.once('connect', () => {
      connectedMs = performance.now();
    });
  };
};
