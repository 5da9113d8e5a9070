import type { Notification } from 'pg';
import type { ReadQuery } from '#contracts/ports/read-database.ts';
import { PROJECTED_CHANNEL, parseProjected } from '#contracts/messages/projector.ts';
import type { Log } from '#platform/logger.ts';
import { outsideTimeBudget, timeLeft } from '#platform/concurrency/time-budget.ts';
import { listenForNotifications } from '#platform/postgres/notifications.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Position of each live read model. The table is missing until a projector has run. */
export const POSITIONS: ReadQuery = {
  sql: 'select name, position from projector.projection where position is not null',
  values: [],
};
export type PositionRow = { readonly name: string; readonly position: string };

export type Positions = ReadonlyMap<string, bigint>;

export const toPositions = (rows: readonly PositionRow[]): Map<string, bigint> =>
  new Map(rows.map(({ name, position }) => [name, BigInt(position)]));

export const havePassed = (known: Positions, readModels: readonly string[], position: bigint): boolean =>
  readModels.every((name) => (known.get(name) ?? -1n) >= position);

export const READ_POSITION_WAIT_MS = 2_000;
/** While the LISTEN connection is down. */
const POLL_MS = 100;
/** While it is up: it may be cut off and not know it. */
const POLL_LISTENING_MS = 500;
const UNDEFINED_TABLE = '42P01';
const INVALID_SCHEMA = '3F000';

export type ProjectionWait = AsyncDisposable & {
  /** False when the time ran out, which is not an error. */
  wait(projections: readonly string[], position: bigint, timeoutMs?: number): Promise<boolean>;
};

type Waiting = {
  readonly projections: readonly string[];
  readonly position: bigint;
  readonly sinceMs: number;
  readonly passed: () => void;
};

/** LISTENs to the projector's notices. Reads the checkpoints at each connect, and while a wait is long. */
export const openProjectionWait = (url: string, pool: Database, log: Log): ProjectionWait => {
  const waiting = new Set<Waiting>();
  let known = new Map<string, bigint>();
  let listening = false;

  const hasPassed = ({ projections, position }: Pick<Waiting, 'projections' | 'position'>): boolean =>
    havePassed(known, projections, position);
  const look = (): void => {
    for (const one of waiting) if (hasPassed(one)) one.passed();
  };

  // Notices that arrive while the checkpoints are read may be newer than the checkpoints.
  let early: Notification[] = [];

  const readCheckpoints = async (): Promise<void> => {
    try {
      known = toPositions((await pool.query<PositionRow>(POSITIONS.sql)).rows);
    } catch (error) {
      const { code } = error as { code?: string };
      // No projector has run on this database yet.
      if (code !== UNDEFINED_TABLE && code !== INVALID_SCHEMA) throw error;
    }
    for (const notice of early.splice(0)) hear(notice);
    look();
  };

  const hear = ({ payload = '' }: Notification): void => {
    const projected = parseProjected(payload);
    for (const name of projected?.projections ?? []) known.set(name, projected?.position ?? -1n);
    if (waiting.size > 0) look();
  };

  let reading: Promise<void> | undefined;
  const listener = listenForNotifications({
    url,
    channel: PROJECTED_CHANNEL,
    log,
    onListening: async () => {
      await readCheckpoints();
      listening = true;
    },
    onNotification: (notice) => {
      if (!listening || reading) early.push(notice);
      if (listening) hear(notice);
    },
    onLost: () => {
      listening = false;
      early = [];
    },
  });

  let lookedAtMs = 0;
  const poll = (): void => {
    if (waiting.size === 0 || reading) return;
    const nowMs = performance.now();
    const isOverdue = [...waiting].some(
      ({ sinceMs }) => nowMs - Math.max(sinceMs, lookedAtMs) >= POLL_LISTENING_MS,
    );
    if (listening && !isOverdue) return;
    lookedAtMs = nowMs;
    reading = outsideTimeBudget(readCheckpoints)
      .catch((error: unknown) => log.warn({ err: error }, 'reading checkpoints failed'))
      .finally(() => {
        reading = undefined;
      });
  };
  const polling = setInterval(poll, POLL_MS);
  polling.unref();

  return {
    wait: (projections, position, timeoutMs = READ_POSITION_WAIT_MS) => {
      if (projections.length === 0 || (listening && hasPassed({ projections, position }))) {
        return Promise.resolve(true);
      }
      return new Promise<boolean>((resolve) => {
        const settle = (passed: boolean): void => {
          clearTimeout(timer);
          waiting.delete(one);
          resolve(passed);
        };
        const one: Waiting = {
          projections,
          position,
          sinceMs: performance.now(),
          passed: () => settle(true),
        };
        const timer = setTimeout(() => settle(false), timeLeft(timeoutMs));
        waiting.add(one);
        poll();
      });
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(polling);
      await listener[Symbol.asyncDispose]();
      await reading;
    },
  };
};
