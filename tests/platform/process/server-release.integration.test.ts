import { afterAll, expect, inject, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { startStubServer } from '#tests/platform/event-store/stub-server.ts';
import { createTestDatabase } from '#tests/stack/database.ts';
import { startProcess } from '#tests/stack/processes.ts';

const LIMIT_MS = 60_000;

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());

test.each(['api', 'projector'])(
  '%s does not start on an event store that is too old',
  { timeout: LIMIT_MS },
  async (service) => {
    const database = await createTestDatabase();
    resources.defer(() => database.drop());
    const old = resources.use(await startStubServer({ version: '24.10.2', onRead: (call) => call.end() }));
    const started = startProcess(`services/${service}/main.ts`, {
      DATABASE_URL: database.url,
      EVENT_STORE_URL: old.url,
      NATS_URL: inject('natsUrl'),
      API_PORT: String(await freePort()),
      CURSOR_SECRET: 'a secret for tests only',
    });
    resources.defer(() => started.kill());
    await started.says('runs release 24.10.2. It must be EventStoreDB 24.10.5 or later');
    await expect.poll(() => started.child.exitCode, { timeout: LIMIT_MS }).toBe(1);
    expect(started.output()).not.toContain('"listening"');
  },
);
