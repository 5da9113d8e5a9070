import { pause } from '#platform/clock.ts';
import {
  extendEndpointLeases,
  type EndpointLease,
  releaseEndpointLeases,
} from '#application/delivery-outbox/endpoint-leases.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Gathers releases, so that one statement has many. */
const GATHER_MS = 20;

type HeldEndpoint = { epoch: string; deliveries: number };

export type HeldEndpoints = {
  /** Call `add` for the claim's deliveries, then `releaseEmpty`. */
  taken(leases: readonly EndpointLease[]): void;
  add(endpoint: string): void;
  remove(endpoint: string): void;
  /** Releases endpoints without deliveries, soon. */
  releaseEmpty(): void;
  /**
   * `leaseNow`: `null` for the clock of Postgres. Returns endpoints that another worker took while this was stopped.
   */
  extend(leaseNow: Date | null): Promise<ReadonlySet<string>>;
  /** Resolves when every endpoint without deliveries is released. */
  released(): Promise<void>;
};

/** A release that fails is left to the end of the lease. */
export const createHeldEndpoints = (pool: Database, workerId: string): HeldEndpoints => {
  const leased = new Map<string, HeldEndpoint>();
  /** Their last delivery has left since the last release. */
  let emptied = new Set<string>();
  let releasing: Promise<void> | undefined;

  const releaseNow = async (): Promise<void> => {
    const unused: EndpointLease[] = [];
    for (const endpoint of emptied) {
      const one = leased.get(endpoint);
      if (one === undefined || one.deliveries > 0) continue;
      leased.delete(endpoint);
      unused.push({ endpoint, epoch: one.epoch });
    }
    emptied = new Set();
    if (unused.length > 0) await releaseEndpointLeases(pool, workerId, unused).catch(() => undefined);
  };
  const run = async (): Promise<void> => {
    while (emptied.size > 0) {
      await pause(GATHER_MS);
      await releaseNow();
    }
    releasing = undefined;
  };
  const releaseEmpty = (): void => {
    if (emptied.size > 0) releasing ??= run();
  };

  return {
    taken: (claimed) => {
      for (const { endpoint, epoch } of claimed) {
        const one = leased.get(endpoint);
        // Results of concurrent claims can arrive in another order.
        if (one === undefined) leased.set(endpoint, { epoch, deliveries: 0 });
        else if (BigInt(epoch) > BigInt(one.epoch)) one.epoch = epoch;
        emptied.add(endpoint);
      }
    },
    add: (endpoint) => {
      const one = leased.get(endpoint);
      if (one) one.deliveries += 1;
    },
    remove: (endpoint) => {
      const one = leased.get(endpoint);
      if (!one) return;
      one.deliveries -= 1;
      if (one.deliveries === 0) emptied.add(endpoint);
    },
    releaseEmpty,
    extend: async (leaseNow) => {
      const endpoints = [...leased].flatMap(([endpoint, { deliveries }]) =>
        deliveries > 0 ? [endpoint] : [],
      );
      if (endpoints.length === 0) return new Set();
      const extended = await extendEndpointLeases(pool, workerId, endpoints, leaseNow);
      return new Set(endpoints.filter((endpoint) => !extended.has(endpoint)));
    },
    released: async () => {
      await releasing;
    },
  };
};
