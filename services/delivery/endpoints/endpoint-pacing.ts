import { LRUCache } from 'lru-cache';

/** For a new or failed endpoint. Each arrival adds one (slow start), so that failing receivers do not delay others. */
const IN_FLIGHT_AT_FIRST = 2;
/** Pause after a failure, and then between two sends until one arrives. Doubles with each failure in a row. */
const FAILURE_WAIT_MS = 50;
const FAILURE_WAIT_MAX_MS = 2_000;
/** Endpoints that failed together are not tried together. */
const JITTER = 0.5;
const ENDPOINTS_REMEMBERED_MAX = 10_000;

type Pace = {
  readonly window: number;
  readonly failures: number;
  readonly pausedUntilMs: number;
};

const START: Pace = { window: IN_FLIGHT_AT_FIRST, failures: 0, pausedUntilMs: 0 };

export type EndpointPacing = {
  windowOf(endpoint: string): number;
  pauseOf(endpoint: string): number;
  isFailing(endpoint: string): boolean;
  started(endpoint: string): void;
  arrived(endpoint: string): void;
  failed(endpoint: string): void;
};

/** `windowMax`: the largest window. `chance`: random source, 0 to 1. */
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
