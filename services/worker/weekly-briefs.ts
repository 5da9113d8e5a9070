import { DAY_MS } from '#contracts/values/time.ts';
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
import { listWorkspacesWithBrief } from '#projections/briefs/read.ts';
import { listWorkspacesTracking } from '#projections/tracking/read.ts';
import { readRadarWindow } from './reports/radar-csv.ts';
import { appendDecided, type JobDependencies, scheduleRetried, waitUntilProjected } from './retried-job.ts';

/** Read models that must have passed the week before a brief is prepared. */
const READ_MODELS = ['radar', 'tracking', 'briefs'];

export type BriefDependencies = JobDependencies;

const snapshotOf = ({ brand, ad, correction, ...rest }: RadarItem): RadarSnapshot => {
  const { url: _brandUrl, ...snapshotBrand } = brand;
  const { url: _adUrl, ...snapshotAd } = ad;
  return { ...rest, ...(correction ? { correction } : {}), brand: snapshotBrand, ad: snapshotAd };
};

/** Reads the week in one pass; memory holds only the notable items. */
export const readWeek = async (
  db: ReadDatabase,
  week: Pick<Week, 'from' | 'to'>,
  brandIds: readonly string[],
) => {
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
  const { db, clock } = dependencies;
  const { brands, notable } = await readWeek(db, week, brandIds);
  const at = clock.now().toISOString();
  const events = await appendDecided(dependencies, workspace_id, {
    stream: briefStream(workspace_id, briefIdOf(workspace_id, week)),
    decider: brief,
    decision: prepareBrief({ workspace_id, week, brands, notable_items: notable, at }),
  });
  return events > 0;
};

/** Prepares missing briefs of all due weeks; returns how many. Idempotent, also across workers. */
export const prepareDueBriefs = async (
  dependencies: BriefDependencies,
  signal: AbortSignal,
): Promise<number> => {
  const { db, clock, log } = dependencies;
  // Each week is counted only once.
  await waitUntilProjected(dependencies, READ_MODELS, signal);
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
  const cron = `0 ${BRIEF_DUE_HOUR} * * 1`;
  const failure = 'brief preparation failed; retrying';
  const job = scheduleRetried({ cron, failure, log: dependencies.log, signal }, () =>
    prepareDueBriefs(dependencies, signal),
  );
  job.runNow();
  return job;
};
