import { PROJECTOR_CONTROL_CHANNEL } from '#contracts/messages/projector.ts';
import type { Log } from '#platform/logger.ts';
import { listenForNotifications } from '#platform/postgres/notifications.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { PROJECTIONS } from './lease-names.ts';

export type Control = {
  readonly name: string;
  readonly version: number;
  readonly position: bigint;
  readonly state: string;
  /** State of its row in `projector.behind`; `null` at the cursor. */
  readonly behind: string | null;
  readonly isPaused: boolean;
  readonly pauseAt: bigint | null;
  /** Version that a newer process has ready; `null` if none waits. */
  readonly wantedVersion: number | null;
  readonly build: {
    readonly version: number;
    readonly state: string;
    readonly isCancelled: boolean;
  } | null;
  readonly verification: { readonly state: string; readonly isCancelled: boolean } | null;
  readonly hasRetries: boolean;
};

type Row = Omit<Control, 'position' | 'pauseAt'> & {
  readonly position: string;
  readonly pauseAt: string | null;
};

export const readControl = async (database: Database): Promise<ReadonlyMap<string, Control>> => {
  const { rows } = await database.query<Row>(
    `select p.name, p.version, p.position::text, p.state,
       h.state as behind, p.is_paused as "isPaused", p.pause_at::text as "pauseAt",
       p.wanted_version as "wantedVersion",
       case when b.name is not null then
         jsonb_build_object('version', b.version, 'state', b.state, 'isCancelled', b.is_cancelled) end as build,
       case when v.name is not null then
         jsonb_build_object('state', v.state, 'isCancelled', v.is_cancelled) end as verification,
       exists (select from projector.parked k where k.projection = p.name and k.asked is not null) as "hasRetries"
     from projector.projection p left join projector.build b using (name) left join projector.verification v using (name)
     left join projector.behind h on h.projection = p.name and h.part = $1`,
    [PROJECTIONS.part],
  );
  return new Map(
    rows.map((row) => [
      row.name,
      {
        ...row,
        position: BigInt(row.position),
        pauseAt: row.pauseAt === null ? null : BigInt(row.pauseAt),
      },
    ]),
  );
};

/** Calls `wake` for each notification. Polling finds requests made while disconnected. */
export const listenForRequests = (url: string, log: Log, wake: () => void): AsyncDisposable =>
  listenForNotifications({
    url,
    channel: PROJECTOR_CONTROL_CHANNEL,
    log,
    onListening: wake,
    onNotification: wake,
  });
