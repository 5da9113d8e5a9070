import { LRUCache } from 'lru-cache';
import type { Clock } from '#platform/clock.ts';
import { networkOf } from '#platform/http/network-of.ts';
import { type Allowance, WINDOW_SECONDS } from './allowance.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** Default of refused requests per minute and address, over all processes. */
export const REFUSED_PER_MINUTE = 1_000;
/** Maximum networks counted separately in one minute. Further ones share one count. */
export const NETWORKS_MAX = 50_000;
/**
 * Sizes of the networks that are counted, in groups of 16 bits of an IPv6 address, with the part of the table from which each
 * holds: /64, then /48 and /32, so that one owner of many networks does not fill the table.
 */
const SIZES = [
  { from: 0, groups: 4 },
  { from: 0.8, groups: 3 },
  { from: 0.9, groups: 2 },
] as const;
/** The count of all networks that the table has no place for. */
const OTHERS = 'others';
const WINDOW_MS = WINDOW_SECONDS * 1_000;
/** Keys that were valid of late, and how long that is remembered. */
const VALID_KEYS_MAX = 10_000;
const VALID_KEY_MS = 3_600_000;
/** Part of a key that identifies it among the valid ones: 12 characters before its checksum, 71 random bits. */
const MARK_FROM = -18;
const MARK_TO = -6;

/** Name of the network that a request is counted by, or `null` for a request that is not counted. */
export type Counted = string | null;

/** Limits requests without a valid key by the address that they come from, before a key is hashed or looked up. */
export type RefusedRequests = {
  /**
   * Counts a request before its key is checked. Returns the allowance of an address that has used it up, which ends the
   * request. A key that was valid of late is not counted, so that an attacker behind the same address does not shut out
   * its owner. A well-formed key passes when the table of networks is full. Returns a promise while other processes are
   * asked for rights.
   */
  enter(address: string, keyText: string | undefined): Counted | Allowance | Promise<Counted | Allowance>;
  /** Keeps the count of a request that is refused, and forgets that its key was valid. */
  refuse(address: string, keyText: string | undefined, counted: Counted): void;
  /** Removes the count of a request with a valid key, and remembers the key. */
  accept(keyText: string, counted: Counted): void;
  /** Removes the count of a request whose key could not be checked. */
  cancel(counted: Counted): void;
};

export type RefusedRequestsOptions = {
  readonly clock: Clock;
  /** The kind of server. Each has a limit of its own. */
  readonly server: 'api' | 'mcp' | 'intake';
  /** Checks the format of a key, without a database. */
  readonly isWellFormed: (keyText: string) => boolean;
  readonly perMinute?: number | undefined;
};

/** Returns the part of a key under which it is remembered, so that no whole key is kept. */
export const markOf = (keyText: string): string => keyText.slice(MARK_FROM, MARK_TO);

/** Creates the limit. */
export const createRefusedRequests = (
  rateLimiter: RateLimiter,
  { clock, server, isWellFormed, perMinute = REFUSED_PER_MINUTE }: RefusedRequestsOptions,
): RefusedRequests => {
  const valid = new LRUCache<string, true>({ max: VALID_KEYS_MAX, ttl: VALID_KEY_MS });
  let window = 0;
  /** Networks with a refused request in this minute. */
  const table = new Set<string>();

  const limitName = (network: string): string => `${server} address ${network}`;
  /** Returns the smallest network of an address that is in the table, or else the one to count it by. */
  const networkToCount = (address: string): string => {
    const current = Math.floor(clock.now().getTime() / WINDOW_MS);
    if (current !== window) table.clear();
    window = current;
    for (const { groups } of SIZES) {
      const network = networkOf(address, groups);
      if (table.has(network)) return network;
    }
    if (table.size >= NETWORKS_MAX) return OTHERS;
    const size = SIZES.findLast(({ from }) => table.size >= from * NETWORKS_MAX) ?? SIZES[0];
    return networkOf(address, size.groups);
  };

  const cancel = (counted: Counted): void => {
    if (counted !== null) rateLimiter.giveBack(limitName(counted), perMinute);
  };

  return {
    enter: (address, keyText) => {
      if (keyText !== undefined && valid.has(markOf(keyText))) return null;
      const network = networkToCount(address);
      const toResult = (allowance: Allowance): Counted | Allowance => {
        if (allowance.allowed) return network;
        return network === OTHERS && keyText !== undefined && isWellFormed(keyText) ? null : allowance;
      };
      const taken = rateLimiter.take(limitName(network), perMinute);
      return taken instanceof Promise ? taken.then(toResult) : toResult(taken);
    },
    refuse: (address, keyText, counted) => {
      if (keyText !== undefined) valid.delete(markOf(keyText));
      const network = counted ?? networkToCount(address);
      if (network !== OTHERS) table.add(network);
      // The reply to a revoked key does not wait for rights of other processes: the next one does.
      if (counted === null) void rateLimiter.take(limitName(network), perMinute);
    },
    accept: (keyText, counted) => {
      valid.set(markOf(keyText), true);
      cancel(counted);
    },
    cancel,
  };
};
