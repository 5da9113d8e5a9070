import { expect } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import { INGEST_CONSUMER, OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { silentLog } from '#platform/logger.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Projection } from '#projections/define-projection.ts';
import { brands } from '#projections/brands/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import type { BrandRegister, Intake, IntakeOutcome } from '#services/ingest/intake-types.ts';
import { consumeObservations } from '#services/ingest/queue/consumer.ts';
import { runProjections } from '#services/projector/run.ts';
import { openIntakeServers } from '#tests/ingest/fixtures/intake-stack.ts';
import { until } from '#tests/stack/wait-until.ts';
import type { CollectorStack } from '../collector-stack.ts';

const LANES = 4;
const WAIT_MS = 10 * 60_000;

export type RecordingService = AsyncDisposable & {
  readonly eventStore: EventStore;
  recorded(): Promise<readonly Observation[]>;
};

export const openRecordingService = async (
  { nats, databaseUrl }: CollectorStack,
  projections: readonly Projection[] = [brands, socialPages],
): Promise<RecordingService> => {
  const resources = new AsyncDisposableStack();
  const servers = resources.use(await openIntakeServers());
  const intake = resources.use(await openIntake(servers));
  // A message that comes again has the same text.
  const seen = new Map<string, Observation>();
  const refused: string[] = [];
  const noteRefusal = (error: unknown): never => {
    if (error instanceof Refusal) refused.push(error.message);
    throw error;
  };
  const prepare = (observation: unknown): (() => Promise<IntakeOutcome>) => {
    try {
      const record = intake.prepare(observation);
      return async () => {
        const outcome = await record().catch(noteRefusal);
        seen.set(JSON.stringify(observation), observation as Observation);
        return outcome;
      };
    } catch (error) {
      return noteRefusal(error);
    }
  };
  const watched: Intake & BrandRegister = {
    prepare,
    submit: async (observation) => await prepare(observation)(),
    isBrandRegistered: (domain) => intake.isBrandRegistered(domain),
  };
  const log = silentLog();
  resources.use(await consumeObservations({ nats, intake: watched, log, concurrency: LANES }));
  const stopping = new AbortController();
  const projecting = runProjections({
    databaseUrl,
    eventStoreUrl: servers.eventStoreUrl,
    projections,
    log,
    signal: stopping.signal,
  });
  resources.defer(async () => {
    stopping.abort();
    await projecting;
  });
  return {
    eventStore: servers.eventStore,
    recorded: async () => {
      await until('recording of all observations', WAIT_MS, async () => {
        const { num_pending, num_ack_pending } = await nats.manager.consumers.info(
          OBSERVATIONS_STREAM,
          INGEST_CONSUMER,
        );
        return num_pending === 0 && num_ack_pending === 0;
      });
      expect(refused).toEqual([]);
      return [...seen.values()];
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
