import { Client } from 'pg';
import { pause } from './clock.ts';
import type { Log } from './log.ts';
import type { Database } from './postgres.ts';

/** How long a reader waits for projections at most; running out is no error (DESIGN §6). */
export const READ_POSITION_WAIT_MS = 2_000;
/** While nobody can tell us that projections moved, we look this often. */
const POLL_MS = 100;
const RECONNECT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
const UNDEFINED_TABLE = '42P01';
const INVALID_SCHEMA = '3F000';

/** Waits until projections show what was recorded. */
export type ReadPosition = AsyncDisposable & {
  /** True when every one of them has passed `position`; false when the time ran out. */
  wait(projections: readonly string[], position: bigint, timeoutMs?: number): Promise<boolean>;
};

type Waiting = {
  readonly projections: readonly string[];
  readonly position: bigint;
  readonly passed: () => void;
};

/**
 * One connection LISTENs to `projected`; each notice makes us read the checkpoints again, once for all who
 * wait. Without that connection the checkpoints are polled.
 */
export const openReadPosition = (url: string, pool: Database, log: Log): ReadPosition => {
  const waiting = new Set<Waiting>();
  const ending = new AbortController();
  let listener: Client | undefined;
  let reading: Promise<void> | undefined;
  let stale = false;

  const readCheckpoints = async (): Promise<ReadonlyMap<string, bigint>> => {
    try {
      const { rows } = await pool.query<{ name: string; position: string }>(
        'select name, position from projector.projection where position is not null',
      );
      return new Map(rows.map((row) => [row.name, BigInt(row.position)]));
    } catch (error) {
      const { code } = error as { code?: string };
      // No projector has ever run here.
      if (code === UNDEFINED_TABLE || code === INVALID_SCHEMA) return new Map();
      throw error;
    }
  };

  const look = async (): Promise<void> => {
    do {
      stale = false;
      const checkpoints = await readCheckpoints();
      for (const one of waiting) {
        if (one.projections.every((name) => (checkpoints.get(name) ?? -1n) >= one.position)) one.passed();
      }
    } while (stale && waiting.size > 0);
  };

  /** A notice that comes while we read may be about something newer, so it makes us read once more. */
  const lookSoon = (): void => {
    stale = true;
    if (waiting.size === 0 || reading) return;
    reading = look()
      .catch((error: unknown) => log.warn({ err: error }, 'reading checkpoints failed'))
      .finally(() => {
        reading = undefined;
        if (stale) lookSoon();
      });
  };

  const listen = async (): Promise<void> => {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    const lost = Promise.withResolvers<void>();
    client.on('error', () => lost.resolve());
    client.on('end', () => lost.resolve());
    client.on('notification', lookSoon);
    ending.signal.addEventListener('abort', () => lost.resolve(), { once: true });
    try {
      await client.connect();
      await client.query('listen projected');
      listener = client;
      lookSoon();
      await lost.promise;
    } finally {
      listener = undefined;
      await client.end().catch(() => undefined);
    }
  };

  const listening = (async () => {
    while (!ending.signal.aborted) {
      await listen().catch((error: unknown) => log.warn({ err: error }, 'not listening for projections'));
      await pause(RECONNECT_MS, ending.signal);
    }
  })();

  const polling = setInterval(() => {
    if (!listener) lookSoon();
  }, POLL_MS);
  polling.unref();

  return {
    wait: (projections, position, timeoutMs = READ_POSITION_WAIT_MS) => {
      if (projections.length === 0) return Promise.resolve(true);
      return new Promise<boolean>((resolve) => {
        const settle = (passed: boolean): void => {
          clearTimeout(timer);
          waiting.delete(one);
          resolve(passed);
        };
        const one: Waiting = { projections, position, passed: () => settle(true) };
        const timer = setTimeout(() => settle(false), timeoutMs);
        waiting.add(one);
        lookSoon();
      });
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(polling);
      ending.abort();
      await listening;
      await reading;
    },
  };
};
