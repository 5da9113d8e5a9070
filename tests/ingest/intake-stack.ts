import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import type { BrandRegister, Intake } from '#services/ingest/intake-types.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { createTestDatabase, createTestEventStore } from '#tests/stack/database.ts';

export type IntakeStack = AsyncDisposable & {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  readonly intake: Intake & BrandRegister;
  readonly eventStore: EventStore;
};

/** An intake with a database and an event store of its own. */
export const openIntakeStack = async (): Promise<IntakeStack> => {
  const resources = new AsyncDisposableStack();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const store = await createTestEventStore();
  resources.defer(() => store.stop());
  const servers = { databaseUrl: database.url, eventStoreUrl: store.url };
  return {
    ...servers,
    intake: resources.use(await openIntake(servers)),
    eventStore: resources.use(openEventStore(store.url)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
