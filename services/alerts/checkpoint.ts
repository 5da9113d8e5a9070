import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { readFileSync } from 'node:fs';
import { type AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import { type PendingDigests, openPendingDigests } from './matching/pending-digests.ts';
import type { MatchingState } from './matching/match-events.ts';
import { createActiveRules } from './matching/active-rules.ts';
import { openPendingSignalChecks } from './matching/pending-signal-checks.ts';
import { openUntrackedBrands } from './matching/untracked-brands.ts';
import { openWaitingStreams, type WaitingStreams } from './waiting/waiting-streams.ts';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

/**
 * Thrown when another process has moved the checkpoint. That process is the leader now; this one starts again from
 * the new checkpoint.
 */
export class CheckpointMoved extends Error {
  constructor() {
    super(
      'The alerts checkpoint was moved by another process. This process restarts from the new checkpoint.',
    );
    this.name = 'CheckpointMoved';
  }
}

/** Creates the tables of the checkpoint and of the matching state. */
export const createAlertsTables = (database: Database): Promise<void> =>
  installSchema(database, { lock: ADVISORY_LOCKS.alertsSchema, sql: SCHEMA });

/** Position of `alerts` in the log, and the matching state in memory at that position. */
export type Progress = MatchingState & {
  position: bigint;
  readonly replayedUntil: bigint;
  readonly pendingDigests: PendingDigests;
  readonly waitingStreams: WaitingStreams;
};

type Checkpoint = {
  readonly position: string;
  readonly log_time: string;
  readonly replayed_until: string;
  readonly knows_tracking: boolean;
};

/**
 * Migration of rules stored by an older version, in which a suspension covered the whole rule instead of one
 * channel. Runs at each start and finds such rules only once.
 */
const TAKE_OVER_RULES = `
  update alerting.rule set rule = (rule - 'suspension') || jsonb_build_object(
    'status', 'present',
    'suspended', '{"webhook": null, "chat": null}'::jsonb || case
      when rule->'suspension' = 'null' then '{}'::jsonb
      else jsonb_build_object(rule->'suspension'->>'channel', rule->'suspension')
    end)
  where rule ? 'suspension'`;

export const openProgress = async (database: Database, eventStore: EventStore): Promise<Progress> => {
  const read = async () =>
    (
      await database.query<Checkpoint>(
        'select position, log_time, replayed_until, knows_tracking from alerting.checkpoint',
      )
    ).rows[0];
  let row = await read();
  if (!row) {
    await database.query(
      `insert into alerting.checkpoint (position, log_time, replayed_until, knows_tracking) values (0, '', $1, true)
       on conflict do nothing`,
      [await eventStore.head()],
    );
    row = await read();
  }
  const position = BigInt(row?.position ?? 0);
  await database.query(TAKE_OVER_RULES);
  const kept = await database.query<{ rule: AlertRule }>('select rule from alerting.rule order by alert_id');
  const rules = kept.rows.map(({ rule }) => rule);
  const isKnown = row?.knows_tracking === true;
  return {
    position,
    logTime: row?.log_time ?? '',
    replayedUntil: BigInt(row?.replayed_until ?? 0),
    rules: createActiveRules(rules),
    untracked: await openUntrackedBrands(database, eventStore, { rules, position, isKnown }),
    changedRules: new Set(),
    pendingDigests: await openPendingDigests(database),
    signalChecks: await openPendingSignalChecks(database),
    waitingStreams: await openWaitingStreams(database),
  };
};

/**
 * Writes the changed state and advances the checkpoint, in one transaction. Throws CheckpointMoved when the
 * checkpoint is not at `progress.position`.
 */
export const saveProgress = async (
  client: Transaction,
  progress: Progress,
  position: bigint,
): Promise<void> => {
  const rules = [...progress.changedRules].map((alertId) => ({ alertId, rule: progress.rules.get(alertId) }));
  const present = rules.filter(({ rule }) => rule !== null);
  if (present.length > 0) {
    await client.query(
      `insert into alerting.rule (alert_id, rule) select * from unnest($1::uuid[], $2::jsonb[])
       on conflict (alert_id) do update set rule = excluded.rule`,
      [present.map(({ alertId }) => alertId), present.map(({ rule }) => JSON.stringify(rule))],
    );
  }
  const gone = rules.filter(({ rule }) => rule === null).map(({ alertId }) => alertId);
  if (gone.length > 0) {
    await client.query('delete from alerting.rule where alert_id = any($1::uuid[])', [gone]);
    await client.query('delete from alerting.told_signal where alert_id = any($1::uuid[])', [gone]);
  }
  await progress.untracked.save(client);
  await progress.pendingDigests.save(client);
  await progress.signalChecks.save(client);
  await progress.waitingStreams.save(client);
  const { rowCount } = await client.query({
    name: 'move the checkpoint of alerts',
    text: 'update alerting.checkpoint set position = $1, log_time = $2 where position = $3',
    values: [position, progress.logTime, progress.position],
  });
  if (rowCount !== 1) throw new CheckpointMoved();
};
