import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { readFileSync } from 'node:fs';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { type PendingDigests, openPendingDigests } from './matching/pending-digests.ts';
import { openBrandContext, type BrandContext } from './matching/brand-context.ts';
import type { FollowedState } from './matching/match-events.ts';
import { openActiveRules, type StoredRules } from './matching/active-rules.ts';
import { createPendingSignalChecks } from './matching/pending-signal-checks.ts';
import { openStoredDayCounts, type StoredDayCounts } from './matching/day-counts.ts';
import { openUntrackedBrands, type UntrackedBrands } from './matching/untracked-brands.ts';
import { openWaitingStreams, type WaitingStreams } from './waiting/waiting-streams.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

export const createAlertsTables = (database: Database): Promise<void> =>
  installSchema(database, { lock: ADVISORY_LOCKS.alertsSchema, sql: SCHEMA, fingerprintOn: 'alerting' });

/** Event that is matched with the rules up to an id, and not yet with those after it. */
export type PartialMatch = { readonly position: bigint; readonly alertId: string };

export type Progress = FollowedState & {
  position: bigint;
  /** Null unless the event after `position` is matched with some of the rules of its brand. */
  partial: PartialMatch | null;
  readonly replayedUntil: bigint;
  readonly brands: BrandContext;
  readonly rules: StoredRules;
  readonly untracked: UntrackedBrands;
  readonly pendingDigests: PendingDigests;
  readonly dayCounts: StoredDayCounts;
  readonly waitingStreams: WaitingStreams;
};

type Checkpoint = {
  readonly position: string;
  readonly log_time: string;
  readonly replayed_until: string;
  readonly partial_position: string | null;
  readonly partial_alert_id: string | null;
};

export const openProgress = async (database: Database, eventStore: EventStore): Promise<Progress> => {
  const read = async () =>
    (
      await database.query<Checkpoint>(
        `select position, log_time, replayed_until, partial_position, partial_alert_id
         from alerting.checkpoint`,
      )
    ).rows[0];
  let row = await read();
  if (!row) {
    await database.query(
      `insert into alerting.checkpoint (position, log_time, replayed_until) values (0, '', $1)
       on conflict do nothing`,
      [await eventStore.head()],
    );
    row = await read();
  }
  const position = BigInt(row?.position ?? 0);
  const { partial_position = null, partial_alert_id = null } = row ?? {};
  return {
    position,
    partial:
      partial_position === null || partial_alert_id === null
        ? null
        : { position: BigInt(partial_position), alertId: partial_alert_id },
    logTime: row?.log_time ?? '',
    replayedUntil: BigInt(row?.replayed_until ?? 0),
    digestsDue: true,
    brands: openBrandContext(database),
    rules: openActiveRules(database),
    untracked: openUntrackedBrands(database),
    pendingDigests: openPendingDigests(database),
    dayCounts: openStoredDayCounts(database),
    signalChecks: createPendingSignalChecks(),
    waitingStreams: openWaitingStreams(database),
  };
};

/** One transaction. Throws when the checkpoint is not at `progress.position`. */
export const saveProgress = async (
  client: Transaction,
  progress: Progress,
  position: bigint,
): Promise<void> => {
  const { brands, rules, untracked, pendingDigests, signalChecks, waitingStreams, dayCounts } = progress;
  const [{ rowCount }] = await Promise.all([
    client.query({
      name: 'move the checkpoint of alerts',
      text: `update alerting.checkpoint set position = $1, log_time = $2, partial_position = $4, partial_alert_id = $5
             where position = $3`,
      values: [
        position,
        progress.logTime,
        progress.position,
        progress.partial?.position,
        progress.partial?.alertId,
      ],
    }),
    ...[brands, rules, untracked, pendingDigests, signalChecks, waitingStreams, dayCounts].map((one) =>
      one.save(client),
    ),
  ]);
  if (rowCount !== 1)
    throw new Error('The alerts checkpoint was moved by another process. This one restarts from there.');
};
