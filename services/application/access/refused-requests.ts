import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#platform/clock.ts';
import { networkOf } from '#platform/http/network-of.ts';
import { type Allowance, type RateLimiter, WINDOW_SECONDS } from './rate-limiter.ts';

/** Default of refused requests per minute and address, over all processes. */
export const REFUSED_PER_MINUTE = 1_000;
/** Maximum addresses counted separately in one minute. Further ones share one count. */
const ADDRESSES_MAX = 50_000;
const WINDOW_MS = WINDOW_SECONDS * 1_000;
/** Keys that were valid of late, and how long that is remembered. */
const VALID_KEYS_MAX = 10_000;
const VALID_KEY_MS = 3_600_000;
/** Part of a key that identifies it among the valid ones: 71 of its 178 random bits. */
const MARK_FROM = 9;
const MARK_TO = 21;

/** Limits requests without a valid key by the address that they come from, before a key is hashed or looked up. */
export type RefusedRequests = {
  /**
   * Returns the allowance of an address that has used it up, and otherwise `null`. A key that was valid of late passes, so
   * that an attacker behind the same address does not shut out its owner.
   */
  exhausted(address: string, keyText: string | undefined): Allowance | null;
  /** Counts a refused request. `keyText`: the refused key. */
  refuse(address: string, keyText: string | undefined): void;
  /** Remembers that a key is valid. */
  accept(keyText: string): void;
};

/** Returns the part of a key under which it is remembered, so that no whole key is kept. */
export const markOf = (keyText: string): string => keyText.slice(MARK_FROM, MARK_TO);

/** Creates the limit. `installation`: a secret of the installation, because several may share one NATS server. */
export const createRefusedRequests = (
  rateLimiter: RateLimiter,
  {
    clock,
    installation,
    perMinute = REFUSED_PER_MINUTE,
  }: { readonly clock: Clock; readonly installation: string; readonly perMinute?: number | undefined },
): RefusedRequests => {
  const prefix = `address ${hash('sha256', installation, 'base64url').slice(0, 8)}`;
  const valid = new LRUCache<string, true>({ max: VALID_KEYS_MAX, ttl: VALID_KEY_MS });
  let window = 0;
  /** Networks with a refused request in this minute. */
  const counted = new Set<string>();

  const keyOf = (network: string): string => `${prefix} ${network}`;
  const enterWindow = (): void => {
    const current = Math.floor(clock.now().getTime() / WINDOW_MS);
    if (current === window) return;
    window = current;
    counted.clear();
  };

  return {
    exhausted: (address, keyText) => {
      enterWindow();
      if (counted.size === 0) return null;
      const network = networkOf(address);
      const name = counted.has(network) || counted.size < ADDRESSES_MAX ? network : 'others';
      const allowance = rateLimiter.look(keyOf(name), perMinute);
      if (allowance.allowed) return null;
      return keyText !== undefined && valid.has(markOf(keyText)) ? null : allowance;
    },
    refuse: (address, keyText) => {
      enterWindow();
      if (keyText !== undefined) valid.delete(markOf(keyText));
      const network = networkOf(address);
      const isCounted = counted.has(network) || counted.size < ADDRESSES_MAX;
      if (isCounted) counted.add(network);
      rateLimiter.take(keyOf(isCounted ? network : 'others'), perMinute);
    },
    accept: (keyText) => void valid.set(markOf(keyText), true),
  };
};
