import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { type IntakeOptions, openIntake } from '#services/ingest/intake/observation-handler.ts';
import { applyBatch, type Target } from '#services/projector/apply/apply-batch.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { choices } from '#tests/faults/seeded-faults.ts';

/** A repetition follows each interruption, as in production. */

/** Shares of messages that meet an ended connection to the database, and a closed intake. */
const ENDED_ONE_IN = 3;
const CLOSED_ONE_IN = 20;
const WRITES_MAX = 8;
/** Maximum milliseconds after which the intake is closed. Most messages take longer. */
const CLOSED_AFTER_MS_MAX = 8;
const BATCH_EVENTS_MAX = 100;
const ROLLED_BACK_ONE_IN = 2;

/** A sequence counts down, also in rolled-back transactions. The write that brings it to 0 ends its connection. */
const installTriggers = async (database: Database): Promise<void> => {
  await database.query(`
    create schema fault;
    create sequence fault.writes increment -1 minvalue -9000000000000 maxvalue 1000 start -1;
    create function fault.count_write() returns trigger language plpgsql as $$
    begin
      if nextval('fault.writes') = 0 then perform pg_terminate_backend(pg_backend_pid()); end if;
      return null;
    end $$;
    do $$ declare name text; begin
      for name in select tablename from pg_tables where schemaname = 'ingest' loop
        execute format('create trigger counts before insert or update or delete on ingest.%I
          for each statement execute function fault.count_write()', name);
      end loop;
    end $$`);
};

/** An intake that is interrupted. It takes one message at a time, so that a seed always leads to the same places. */
export type InterruptedIntake = Intake &
  AsyncDisposable & {
    readonly failures: () => number;
  };

export const openInterruptedIntake = async (
  options: IntakeOptions,
  seed: number,
): Promise<InterruptedIntake> => {
  const choose = choices(seed);
  const database = openPool(options.databaseUrl, 1);
  let intake = await openIntake(options);
  await installTriggers(database);
  let failures = 0;

  const endConnectionAfter = (writes: number) =>
    database.query('select setval($1, $2)', ['fault.writes', writes]);
  const submitWithEndedConnection = async (message: unknown): Promise<void> => {
    await endConnectionAfter(choose(WRITES_MAX) + 1);
    await intake.submit(message).catch(() => (failures += 1));
    await endConnectionAfter(-1);
  };
  const submitWhileClosing = async (message: unknown): Promise<void> => {
    const submitted = intake.submit(message).catch(() => (failures += 1));
    await sleep(choose(CLOSED_AFTER_MS_MAX));
    await intake[Symbol.asyncDispose]();
    await submitted;
    intake = await openIntake(options);
  };
  return {
    submit: async (message) => {
      if (choose(CLOSED_ONE_IN) === 0) await submitWhileClosing(message);
      else if (choose(ENDED_ONE_IN) === 0) await submitWithEndedConnection(message);
      return await intake.submit(message);
    },
    failures: () => failures,
    [Symbol.asyncDispose]: async () => {
      await intake[Symbol.asyncDispose]();
      await database.end();
    },
  };
};

class Interrupted extends Error {
  readonly code = '08006';
}

export type Apply = (target: Target, events: readonly RecordedEvent[]) => Promise<void>;

/** Batches end at seeded places, and some are rolled back and repeated. Each target has its own places. */
export const interruptBatches = (database: Database, apply: Apply, seed: number): Apply => {
  const choose = choices(seed);
  return async (target, events) => {
    for (let from = 0; from < events.length; ) {
      const batch = events.slice(from, from + choose(BATCH_EVENTS_MAX) + 1);
      from += batch.length;
      if (choose(ROLLED_BACK_ONE_IN) === 0) await rollBack(database, target, batch);
      await apply(target, batch);
    }
  };
};

const rollBack = async (
  database: Database,
  target: Target,
  events: readonly RecordedEvent[],
): Promise<void> => {
  const own = events.filter(({ stream }) =>
    target.projection.prefixes.some((prefix) => stream.startsWith(prefix)),
  );
  const last = own.at(-1);
  if (!last) return;
  const saveCheckpoint = (): Promise<void> => Promise.reject(new Interrupted('connection lost'));
  try {
    await applyBatch(database, { ...target, saveCheckpoint }, own, last.position);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  }
};
