import { DAY_MS } from '#contracts/values/time.ts';
import { Cron } from 'croner';
import { randomUUID } from 'node:crypto';
import { briefStream, type RadarChanges, type RadarSnapshot } from '#contracts/events/workspace/brief.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type RadarItem, RadarItemType } from '#contracts/resources/workspace/radar.ts';
import {
  brief,
  BRIEF_DUE_HOUR,
  briefIdOf,
  chooseNotable,
  countChanges,
  prepareBrief,
  type Week,
  weeksDue,
} from '#domain/workspace/brief.ts';
import { type Clock, pause } from '#platform/clock.ts';
import { executeCommand, eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { ProjectionWait } from '#application/commands/projection-wait.ts';
import { listWorkspacesWithBrief } from '#projections/briefs/read.ts';
import { listWorkspacesTracking } from '#projections/tracking/read.ts';
import { readRadarWindow } from './reports/radar-csv.ts';

/** Read models that must have passed the week before a brief is prepared. */
const READ_MODELS = ['radar', 'tracking', 'briefs'];
const BEHIND_STEP_MS = 1_000;
const BEHIND_STEPS_UNTIL_WARNED = 30;
const RETRY_MS = 60_000;

export type BriefDependencies = {
  readonly db: ReadDatabase;
  readonly eventStore: EventStore;
  readonly projectionWait: ProjectionWait;
  readonly clock: Clock;
  readonly log: Log;
};

const snapshotOf = ({ brand, ad, correction, ...rest }: RadarItem): RadarSnapshot => {
  const { url: _brandUrl, ...snapshotBrand } = brand;
  const { url: _adUrl, ...snapshotAd } = ad;
  return { ...rest, ...(correction ? { correction } : {}), brand: snapshotBrand, ad: snapshotAd };
};

/** Reads the week in one pass; memory holds only the notable items. */
const readWeek = async (db: ReadDatabase, week: Week, brandIds: readonly string[]) => {
  const counts = new Map<string, RadarChanges>(brandIds.map((brandId) => [brandId, countChanges([])]));
  let notable: readonly RadarSnapshot[] = [];
  const window = { brand_ids: brandIds, types: RadarItemType.options, from: week.from, to: week.to };
  for await (const items of readRadarWindow(db, window)) {
    const [first] = items;
    if (!first) continue;
    counts.set(first.brand.id, countChanges(items, counts.get(first.brand.id)));
    notable = chooseNotable([...notable, ...items.map(snapshotOf)]);
  }
  return { brands: [...counts].map(([brand_id, changes]) => ({ brand_id, ...changes })), notable };
};

const prepare = async (
  dependencies: BriefDependencies,
  week: Week,
  workspace_id: string,
  brandIds: readonly string[],
): Promise<boolean> => {
  const { db, eventStore, clock } = dependencies;
  const { brands, notable } = await readWeek(db, week, brandIds);
  const commandId = randomUUID();
  const at = clock.now().toISOString();
  const { events } = await executeCommand(eventStore, {
    stream: briefStream(workspace_id, briefIdOf(workspace_id, week)),
    decider: brief,
    decision: prepareBrief({ workspace_id, week, brands, notable_items: notable, at }),
    metadata: eventMetadata({
      actor: serviceActor('worker'),
      correlationId: commandId,
      causationId: commandId,
      workspaceId: workspace_id,
    }),
    commandId,
  });
  return events.length > 0;
};

/** Waits for the end of the log, because each week is counted only once. Returns early on shutdown. */
const waitUntilProjected = async (
  { eventStore, projectionWait, log }: BriefDependencies,
  signal: AbortSignal,
): Promise<void> => {
  const head = await eventStore.head();
  for (let step = 1; !signal.aborted; step += 1) {
    if (await projectionWait.wait(READ_MODELS, head, BEHIND_STEP_MS)) return;
    if (step === BEHIND_STEPS_UNTIL_WARNED) log.warn({}, 'briefs delayed; read models lag behind');
  }
};

/** Prepares missing briefs of all due weeks; returns how many. Idempotent, also across workers. */
export const prepareDueBriefs = async (
  dependencies: BriefDependencies,
  signal: AbortSignal,
): Promise<number> => {
  const { db, clock, log } = dependencies;
  await waitUntilProjected(dependencies, signal);
  let prepared = 0;
  for (const week of weeksDue(clock.now())) {
    const end = new Date(Date.parse(week.to) + DAY_MS).toISOString();
    const existing = await listWorkspacesWithBrief(db, week.name);
    for (const { workspace_id, brand_ids } of await listWorkspacesTracking(db, end)) {
      if (signal.aborted) return prepared;
      if (existing.has(workspace_id)) continue;
      if (await prepare(dependencies, week, workspace_id, brand_ids)) prepared += 1;
    }
  }
  if (prepared > 0) log.info({ briefs: prepared }, 'weekly briefs prepared');
  return prepared;
};

export const scheduleBriefs = (dependencies: BriefDependencies, signal: AbortSignal): AsyncDisposable => {
  let running: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await prepareDueBriefs(dependencies, signal);
        return;
      } catch (error) {
        dependencies.log.warn({ reason: (error as Error).message }, 'brief preparation failed; retrying');
        await pause(RETRY_MS, signal);
      }
    }
  };
  const runOnce = (): void => {
    running ??= run().finally(() => {
      running = undefined;
    });
  };
  const job = new Cron(`0 ${BRIEF_DUE_HOUR} * * 1`, { timezone: 'UTC' }, runOnce);
  runOnce();
  return {
    [Symbol.asyncDispose]: async () => {
      job.stop();
      await running;
    },
  };
};
