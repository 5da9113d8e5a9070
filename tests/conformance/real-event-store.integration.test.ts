import { EventStoreDBClient } from '@eventstore/db-client';
import { GenericContainer, Wait } from 'testcontainers';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { eventStoreConformance } from './event-store.ts';

const IMAGE = 'eventstore/eventstore:24.10';
const PORT = 2113;
const START_LIMIT_MS = 180_000;

/** The settings of a test run are its environment; they are read here and nowhere below. */
// oxlint-disable-next-line node/no-process-env
const givenUrl = process.env['EVENTSTORE_URL'] ?? '';
const engine = givenUrl === '' ? await findEngine() : null;
const reason = givenUrl === '' && engine !== null ? engine.problem : null;

if (reason !== null) {
  console.log(
    `The conformance suite does not run against a real EventStoreDB: EVENTSTORE_URL is not set, and ${reason}`,
  );
}

describe.skipIf(reason !== null)('a real EventStoreDB', () => {
  let url = givenUrl;
  let stop = async () => {};

  beforeAll(async () => {
    if (url !== '') return;
    const container = await new GenericContainer(IMAGE)
      .withEnvironment({
        EVENTSTORE_INSECURE: 'true',
        EVENTSTORE_MEM_DB: 'true',
        EVENTSTORE_CLUSTER_SIZE: '1',
      })
      .withExposedPorts(PORT)
      .withWaitStrategy(Wait.forHttp('/health/live', PORT).forStatusCodeMatching((code) => code < 300))
      .start();
    url = `esdb://${container.getHost()}:${container.getMappedPort(PORT)}?tls=false`;
    stop = async () => {
      await container.stop();
    };
  }, START_LIMIT_MS);
  afterAll(() => stop());

  eventStoreConformance({ connect: () => EventStoreDBClient.connectionString(url) });
});

describe.runIf(reason !== null)('a real EventStoreDB', () => {
  // oxlint-disable-next-line vitest/no-disabled-tests -- It stands in the report for the suite that could not run.
  test.skip(`conformance: skipped, ${reason}`, () => undefined);
});

/** Whether containers can be started here, and if not, why. */
async function findEngine(): Promise<{ problem: string | null }> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    await getContainerRuntimeClient();
    return { problem: null };
  } catch {
    return { problem: 'no Docker engine answers on this machine.' };
  }
}
