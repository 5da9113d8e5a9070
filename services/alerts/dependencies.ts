import type { QueuedDelivery } from '#application/delivery-outbox/enqueue.ts';
import type { Clock } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Progress } from './checkpoint.ts';
import type { DigestPace } from './digests/digest-pace.ts';
import type { ReplayGuard } from './replay-guard.ts';
import type { SignalSource } from './matching/pending-signal-checks.ts';

export type AlertsSettings = {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  /** As clients reach it, without a trailing slash. */
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly publish: (queued: readonly QueuedDelivery[]) => void;
  /** `null` without a source; signal checks then wait in their table. */
  readonly signals: SignalSource | null;
  /** `RULES_MAX` when absent. Less in tests. */
  readonly rulesMax?: number;
};

export type MatchingSession = {
  /** Its transactions prove the lease of this process. */
  readonly database: Database;
  readonly eventStore: EventStore;
  readonly progress: Progress;
  readonly settings: AlertsSettings;
  /** Used only during a replay of events that were already matched once. */
  readonly replayGuard: ReplayGuard;
  readonly digestPace: DigestPace;
};
