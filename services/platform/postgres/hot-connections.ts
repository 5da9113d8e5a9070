import type { Client } from 'pg';
import { timeLeft } from '../concurrency/time-budget.ts';
import { socketOf } from './silence.ts';

/** Pipelined connections for hot reads, of which the least busy one takes the next read. */

/** Milliseconds for which the server may work on one read before its connection takes no further ones. */
const SERVING_MAX_MS = 100;
/** Maximum reads that one connection carries at the same time. */
const IN_FLIGHT_OF_CONNECTION = 64;
/** Maximum reads that wait for a connection, and the milliseconds for which they do. */
const WAITING_MAX = 1_000;
const WAIT_MS = 2_000;

/** Thrown when too many reads wait for a connection, or one has waited too long. The caller may try again. */
export class ReadsBusy extends Error {
  constructor() {
    super('All connections for reads are busy. Try again.');
    this.name = 'ReadsBusy';
  }
}

/** An open connection. `send` rejects when the connection breaks. */
export type HotConnection = { readonly client: Client; readonly send: <T>(answer: Promise<T>) => Promise<T> };

type Slot = {
  opening: Promise<HotConnection> | undefined;
  /** Set once it is open. */
  client: Client | undefined;
  inFlight: number;
  /** Time at which the server could begin with the oldest read. */
  servingSince: number;
};

export type HotConnections = {
  /**
   * Runs a read on the least busy connection. `begin` sends it. Returns its answer, and the milliseconds that the server
   * took for it. Throws `ReadsBusy`.
   */
  run<T>(begin: (client: Client) => Promise<T>): Promise<{ readonly answer: T; readonly ms: number }>;
  /** True when a read would not wait for a connection. */
  hasFree(): boolean;
  /** Opens all connections. Never throws. */
  connect(): Promise<void>;
  /** Returns the open connections, and opens no more. */
  close(): Promise<readonly HotConnection[]>;
};

/**
 * Keeps `count` connections. `open` opens one, and calls its argument when that has ended; it is opened again on next
 * use.
 */
export const createHotConnections = (
  count: number,
  open: (forget: () => void) => Promise<HotConnection>,
): HotConnections => {
  const slots: Slot[] = Array.from({ length: count }, () => ({
    opening: undefined,
    client: undefined,
    inFlight: 0,
    servingSince: 0,
  }));
  const waiting = new Set<() => void>();
  let closed = false;
  /** Takes all reads of one event-loop iteration, so that they are sent in one write. */
  let ofIteration: Slot | null = null;

  const isFree = (slot: Slot): boolean =>
    slot.inFlight === 0 ||
    (slot.inFlight < IN_FLIGHT_OF_CONNECTION && performance.now() - slot.servingSince <= SERVING_MAX_MS);

  const wakeOne = (): void => {
    const [next] = waiting;
    if (next === undefined) return;
    waiting.delete(next);
    next();
  };

  const connectionOf = (slot: Slot): Promise<HotConnection> => {
    if (closed) throw new Error('The read database is closed.');
    if (slot.opening) return slot.opening;
    // A connection that ends must not forget the one that has replaced it.
    const forget = (): void => {
      if (slot.opening !== opening) return;
      slot.opening = undefined;
      slot.client = undefined;
    };
    const openAndKeep = async (): Promise<HotConnection> => {
      const connection = await open(forget);
      if (slot.opening === opening) slot.client = connection.client;
      return connection;
    };
    const opening = openAndKeep();
    slot.opening = opening;
    opening.catch(forget);
    return opening;
  };

  const leastBusy = (): Slot | null => {
    if (ofIteration && isFree(ofIteration)) return ofIteration;
    const free = slots.filter(isFree);
    if (free.length === 0) return null;
    return free.reduce((least, slot) => (slot.inFlight < least.inFlight ? slot : least));
  };

  /** Throws `ReadsBusy` when no connection is free in time. */
  const untilFree = async (): Promise<Slot> => {
    const deadline = performance.now() + timeLeft(WAIT_MS);
    while (true) {
      const slot = leastBusy();
      if (slot) return slot;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || waiting.size >= WAITING_MAX) throw new ReadsBusy();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(wake);
          resolve();
        }, leftMs);
        const wake = (): void => {
          clearTimeout(timer);
          resolve();
        };
        waiting.add(wake);
      });
    }
  };

  /**
   * Sends all reads of one event-loop iteration in one write, on one connection. Under load this halves the cost of a
   * small read on client and server.
   */
  const gatherIteration = (slot: Slot): void => {
    if (ofIteration !== null) return;
    ofIteration = slot;
    const stream = slot.client && socketOf(slot.client);
    stream?.cork();
    setImmediate(() => {
      ofIteration = null;
      stream?.uncork();
    });
  };

  return {
    run: async (begin) => {
      const slot = leastBusy() ?? (await untilFree());
      gatherIteration(slot);
      if (slot.inFlight === 0) slot.servingSince = performance.now();
      slot.inFlight += 1;
      try {
        const { client, send } = await connectionOf(slot);
        const sentAt = performance.now();
        const answer = await send(begin(client));
        return { answer, ms: performance.now() - Math.max(sentAt, slot.servingSince) };
      } finally {
        slot.inFlight -= 1;
        // Answers come in the order of the reads, so the server begins with the next one now.
        slot.servingSince = performance.now();
        wakeOne();
      }
    },
    hasFree: () => leastBusy() !== null,
    connect: async () => {
      await Promise.allSettled(slots.map((slot) => connectionOf(slot)));
    },
    close: async () => {
      closed = true;
      const openings = slots.flatMap(({ opening }) => opening ?? []);
      const opened = await Promise.allSettled(openings);
      return opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    },
  };
};
