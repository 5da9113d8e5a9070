import type { Clock } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Progress } from './checkpoint.ts';
import type { Past } from './replay-guard.ts';
import type { SignalSource } from './matching/pending-signal-checks.ts';

export type AlertsSettings = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  /** Where clients reach the API, without a slash at its end. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Tells the delivery process; what it does not hear of it finds by itself. */
  readonly publish: (deliveryIds: readonly string[]) => void;
  /** `null`: rules on activity keep what there is to look at for when there is a source. */
  readonly signals: SignalSource | null;
};

/** One time of following the log, from the checkpoint until something breaks. */
export type Pass = {
  readonly database: Database;
  readonly eventStore: EventStore;
  readonly progress: Progress;
  readonly settings: AlertsSettings;
  /** What the log says further on, where it is gone through for another time. */
  readonly past: Past;
};
