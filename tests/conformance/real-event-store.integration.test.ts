import { EventStoreDBClient } from '@eventstore/db-client';
import { GenericContainer, Wait } from 'testcontainers';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { eventStoreConformance } from './event-store.ts';

const IMAGE = 'eventstore/eventstore:24.10';
const PORT = 2113;
const START_LIMIT_MS = 180_000;

/** Connection string of a server to test, from the environment of the test run; empty to start a container. */
// oxlint-disable-next-line node/no-process-env
const configuredUrl = process.env['EVENTSTORE_URL'] ?? '';
const engine = configuredUrl === '' ? await findEngine() : null;
const reason = configuredUrl === '' && engine !== null ? engine.problem : null;

if (reason !== null) {
  console.log(
    `The conformance suite does not run against a real EventStoreDB: EVENTSTORE_URL is not set, and ${reason}`,
  );
}

describe.skipIf(reason !== null)('a real EventStoreDB', () => {
  let url = configuredUrl;
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
  // oxlint-disable-next-line vitest/no-disabled-tests -- It shows in the test report that the suite did not run.
  test.skip(`conformance: skipped, ${reason}`, () => undefined);
});

/** `problem`: why no container can be started, else `null`. */
async function findEngine(): Promise<{ problem: string | null }> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    await getContainerRuntimeClient();
    return { problem: null };
  } catch {
    return { problem: 'no Docker engine is available.' };
  }
}
