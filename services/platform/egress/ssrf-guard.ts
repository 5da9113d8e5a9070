import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { isGloballyReachable, isLoopback, ownAddressCheck } from './public-address.ts';
import type { TargetRules } from './check-target-url.ts';
import { loadUndici } from './undici.ts';

export const CONNECT_TIMEOUT_MS = 5_000;
const RESOLVE_TIMEOUT_MS = 2_000;
const RESOLVE_TRIES = 2;
/** A name with more addresses is rejected, not truncated. */
const ADDRESSES_MAX = 64;

export class BlockedTarget extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'BlockedTarget';
  }
}

export type ResolvedAddress = { readonly address: string; readonly family: 4 | 6 };
/** All addresses, IPv4 and IPv6. Rejects with a DNS error code when there are none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Asks name servers directly: with `getaddrinfo` one mute server would block the process's small thread pool. */
export const resolveByNameServer = (): Resolve => {
  const resolver = new Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: RESOLVE_TRIES });
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found: ResolvedAddress[] = [
      ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 as const })),
      ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 as const })),
    ];
    if (found.length > 0) return found;
    throw v4.status === 'rejected' ? v4.reason : new Error(`No address found for ${hostname}.`);
  };
};

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
 * SSRF guard: resolves a name once and rejects it if any address is not globally reachable or is this machine's own. It
 * connects to the checked addresses only, so DNS rebinding has no effect. TLS still verifies the name.
 */
export const guardedConnector = (
  { allowLoopback }: TargetRules,
  resolve: Resolve,
  tls: { readonly ca?: string } = {},
  isOwnAddress: (address: string) => boolean = ownAddressCheck(),
) => {
  const permits = (address: string): boolean =>
    allowLoopback
      ? isGloballyReachable(address) || isLoopback(address)
      : isGloballyReachable(address) && !isOwnAddress(address);

  const checked = async (hostname: string): Promise<readonly ResolvedAddress[]> => {
    // Name servers do not resolve `localhost`, which must never point elsewhere (RFC 6761).
    const addresses = allowLoopback && hostname === 'localhost' ? LOOPBACK : await resolve(hostname);
    if (addresses.length === 0 || addresses.length > ADDRESSES_MAX) {
      throw new BlockedTarget(
        `The host name has ${addresses.length} addresses; 1 to ${ADDRESSES_MAX} are allowed.`,
      );
    }
    const refused = addresses.find(({ address }) => !permits(address));
    if (refused) throw new BlockedTarget('The host name resolves to an address outside the public internet.');
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
  const lookup: LookupFunction = (...input) => void answerLookup(...input);
  const connector = loadUndici().buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup,
    allowH2: false,
    ...tls,
  });

  return (options: buildConnector.Options, done: Connected): void => {
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    // Node does not call `lookup` for literal addresses, so they are checked here.
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
        return done(new BlockedTarget('The connection reached an address that was not checked.'), null, null);
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
