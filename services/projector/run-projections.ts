import type { RecordedFact } from '#contracts/events/fact.ts';
import { pause } from '#platform/clock.ts';
import { type EventStore, openEventStore } from '#platform/event-store.ts';
import type { Log } from '#platform/log.ts';
import { openPipeline, type Pipeline } from '#platform/pipeline.ts';
import { type Database, openPool } from '#platform/postgres.ts';
import { backoffMs } from '#platform/retry.ts';
import type { Projection } from '#projections/projection.ts';
import { createProjectorTables, openLiveTarget, readCheckpoint, recordState } from './checkpoints.ts';
import { openOwnership, type Ownership } from '#platform/ownership.ts';
import { openApplying, type Running } from './apply-to-all.ts';
import { readParkedStreams } from './park.ts';
import { buildBeside, swapIn } from './rebuild.ts';

/** Facts taken together: whatever has arrived when live; when far behind, so many, or those of so long. */
const LIVE_BATCH = 1_000;
const CATCH_UP_BATCH = 5_000;
const CATCH_UP_GATHER_MS = 250;
/** While facts come faster than one by one, so long is waited for more: fewer commits leave more to whoever records. */
const LIVE_GATHER_MS = 3;
const BUFFERED_ITEMS = 10_000;
const POOL_CLIENTS = 12;
/**
 * Rows are on disk with their checkpoint or neither is, so that what a power cut takes is applied again: no commit
 * waits for the disk.
 */
const REPEATABLE = { options: '-c synchronous_commit=off' };
/** How often a standby asks whether a projection has lost its owner. */
const STANDBY_MS = 2_000;
const RESTART_DELAYS = { attempts: Number.POSITIVE_INFINITY, firstDelayMs: 100, maxDelayMs: 5_000 };

export type ProjectorSettings = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly projections: readonly Projection[];
  readonly log: Log;
  readonly signal: AbortSignal;
};

/** Takes over every projection that has no owner; builds beside and swaps those whose version changed. */
const takeOver = async (
  database: Database,
  eventStore: EventStore,
  ownership: Ownership,
  running: readonly Running[],
  { projections, log, signal }: ProjectorSettings,
): Promise<Running[]> => {
  const taken: Running[] = [];
  for (const projection of projections) {
    const { name, version } = projection;
    if (running.some(({ target }) => target.projection.name === name) || !(await ownership.acquire(name)))
      continue;
    const before = await readCheckpoint(database, name);
    if (before && before.version !== version) {
      log.info({ projection: name, from: before.version, to: version }, 'building the new version beside');
      try {
        await buildBeside(database, eventStore, projection, signal);
        await swapIn(database, projection);
      } catch (error) {
        signal.throwIfAborted();
        log.error(
          { projection: name, err: error },
          'the new version could not be built; the old tables stay',
        );
        await recordState(database, name, 'failed', (error as Error).message);
        continue;
      }
    }
    const target = await openLiveTarget(database, projection);
    const checkpoint = await readCheckpoint(database, name);
    taken.push({
      target,
      prefixes: projection.prefixes,
      parked: await readParkedStreams(database, name),
      position: checkpoint?.position ?? 0n,
      stored: checkpoint?.position ?? 0n,
      live: false,
    });
    log.info(
      { projection: name, version, position: String(checkpoint?.position ?? 0n) },
      'projection taken over',
    );
  }
  return taken;
};

/** One pass: follows the log for the owned projections until something breaks or more can be taken over. */
const follow = async (
  database: Database,
  pipeline: Pipeline,
  eventStore: EventStore,
  ownership: Ownership,
  running: Running[],
  settings: ProjectorSettings,
): Promise<void> => {
  const { log, signal } = settings;
  const from = running.reduce(
    (min, { position }) => (position < min ? position : min),
    running[0]?.position ?? 0n,
  );
  const prefixes = [...new Set(running.flatMap((one) => one.prefixes))];
  await using follower = eventStore.follow({
    after: from === 0n ? null : from,
    prefixes,
    bufferItems: BUFFERED_ITEMS,
  });
  const applying = openApplying(database, pipeline, log);
  const stop = (): void => void follower[Symbol.asyncDispose]();
  signal.addEventListener('abort', stop, { once: true });
  ownership.lost.addEventListener('abort', stop, { once: true });
  try {
    let caughtUp = false;
    let recent = 0;
    let lookAgainAt = Date.now() + STANDBY_MS;
    for (;;) {
      if (caughtUp && recent > 1) await pause(LIVE_GATHER_MS);
      const facts: RecordedFact[] = [];
      let position = 0n;
      // Far behind, writing is faster than reading: taken as they come, every few facts would cost a commit.
      const gatherUntil = performance.now() + CATCH_UP_GATHER_MS;
      do {
        const items = await follower.take(caughtUp ? LIVE_BATCH : CATCH_UP_BATCH - facts.length);
        if (items.length === 0) return;
        for (const item of items) {
          if (item.kind === 'fact') {
            facts.push(item.fact);
            position = item.fact.position;
          } else if (item.kind === 'checkpoint') position = item.position;
          else caughtUp = true;
        }
      } while (!caughtUp && facts.length < CATCH_UP_BATCH && performance.now() < gatherUntil);
      recent = facts.length;
      if (position > 0n) await applying.apply(running, facts, position);
      if (caughtUp && running.some(({ live }) => !live)) {
        for (const one of running) {
          if (!one.live) await recordState(database, one.target.projection.name, 'live');
          one.live = true;
        }
        log.info({ position: String(position) }, 'caught up');
      }
      if (running.length < settings.projections.length && Date.now() > lookAgainAt) {
        const taken = await takeOver(database, eventStore, ownership, running, settings);
        running.push(...taken);
        if (taken.length > 0) return;
        lookAgainAt = Date.now() + STANDBY_MS;
      }
    }
  } finally {
    await applying.end();
    signal.removeEventListener('abort', stop);
    ownership.lost.removeEventListener('abort', stop);
  }
};

/**
 * Runs the projections that this process owns until the signal. Whatever breaks (a server gone, the locks
 * lost), it starts again from the checkpoints: rows and checkpoint moved together, so nothing is applied
 * twice or left out.
 */
export const runProjections = async (settings: ProjectorSettings): Promise<void> => {
  const { log, signal } = settings;
  const database = openPool(settings.databaseUrl, POOL_CLIENTS, REPEATABLE);
  const pipeline = openPipeline(settings.databaseUrl, REPEATABLE);
  const eventStore = openEventStore(settings.eventStoreUrl);
  try {
    for (let failures = 0; !signal.aborted; ) {
      try {
        await createProjectorTables(database);
        await using ownership = await openOwnership(settings.databaseUrl);
        const running: Running[] = [];
        while (!signal.aborted && !ownership.lost.aborted) {
          running.push(...(await takeOver(database, eventStore, ownership, running, settings)));
          if (running.length === 0) await pause(STANDBY_MS, signal);
          else await follow(database, pipeline, eventStore, ownership, running, settings);
          failures = 0;
        }
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, 'projecting was interrupted; starting again from the checkpoints');
        await pause(backoffMs(failures, RESTART_DELAYS), signal);
        failures += 1;
      }
    }
  } finally {
    await eventStore[Symbol.asyncDispose]();
    await pipeline[Symbol.asyncDispose]();
    await database.end();
  }
};
