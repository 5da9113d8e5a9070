import { LRUCache } from 'lru-cache';

/**
 * Concurrent sends to an endpoint that has not been sent to, or whose last attempt failed. Each delivery that arrives adds
 * one (slow start), so that many deliveries due at once at receivers that fail do not take the time of all others.
 */
const IN_FLIGHT_AT_FIRST = 2;
/**
 * Milliseconds without a further send to an endpoint after a failure, and then between two sends until one arrives. Doubles
 * with each further failure in a row.
 */
const FAILURE_WAIT_MS = 50;
const FAILURE_WAIT_MAX_MS = 2_000;
/** Share of a pause that is random, so that endpoints that failed together are not tried together. */
const JITTER = 0.5;
const ENDPOINTS_REMEMBERED_MAX = 10_000;

type Pace = {
  readonly window: number;
  /** Failures in a row. */
  readonly failures: number;
  /** Monotonic milliseconds. */
  readonly pausedUntilMs: number;
};

const START: Pace = { window: IN_FLIGHT_AT_FIRST, failures: 0, pausedUntilMs: 0 };

/** Limits of the sends to each endpoint, from the outcomes of its last attempts. Endpoints not used for long are forgotten. */
export type EndpointPacing = {
  /** Returns the concurrent sends that the endpoint may have, before other limits. */
  windowOf(endpoint: string): number;
  /** Returns the milliseconds until the endpoint may be sent to; 0 for now. */
  pauseOf(endpoint: string): number;
  isFailing(endpoint: string): boolean;
  started(endpoint: string): void;
  arrived(endpoint: string): void;
  failed(endpoint: string): void;
};

/** Creates the pacing of one process. `windowMax`: the largest window. `chance`: random source, 0 to 1. */
export const createEndpointPacing = (windowMax: number, chance: () => number): EndpointPacing => {
  const paces = new LRUCache<string, Pace>({ max: ENDPOINTS_REMEMBERED_MAX });
  const paceOf = (endpoint: string): Pace => paces.get(endpoint) ?? START;
  const pauseAfter = (endpoint: string, failures: number): void => {
    const pauseMs =
      Math.min(FAILURE_WAIT_MAX_MS, FAILURE_WAIT_MS * 2 ** (failures - 1)) * (1 - JITTER * chance());
    paces.set(endpoint, { window: IN_FLIGHT_AT_FIRST, failures, pausedUntilMs: performance.now() + pauseMs });
  };
  return {
    windowOf: (endpoint) => paceOf(endpoint).window,
    pauseOf: (endpoint) => Math.max(0, paceOf(endpoint).pausedUntilMs - performance.now()),
    isFailing: (endpoint) => paceOf(endpoint).failures > 0,
    started: (endpoint) => {
      const { failures } = paceOf(endpoint);
      if (failures > 0) pauseAfter(endpoint, failures);
    },
    arrived: (endpoint) => {
      const window = Math.min(windowMax, paceOf(endpoint).window + 1);
      paces.set(endpoint, { window, failures: 0, pausedUntilMs: 0 });
    },
    failed: (endpoint) => pauseAfter(endpoint, paceOf(endpoint).failures + 1),
  };
};
