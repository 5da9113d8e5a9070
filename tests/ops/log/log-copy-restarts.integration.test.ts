import { afterAll, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { copyLog, serverSource } from '#services/ops/log/transfer.ts';
import { createTestDatabase } from '#tests/stack/database.ts';
import { type ServiceProcess, startProcess } from '#tests/stack/processes.ts';
import { compare, createStores, fill, untilEnd } from './stores.ts';

const LONG_MS = 120_000;
/** More appends than are on their way at a time. */
const ROUNDS = 300;

const stores = createStores();
const resources = new AsyncDisposableStack();
afterAll(async () => {
  await resources.disposeAsync();
  await stores[Symbol.asyncDispose]();
});

test('a copy continues by itself when the target is killed and started again', {
  timeout: LONG_MS,
}, async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const port = await freePort();
  const startTarget = async (): Promise<ServiceProcess> => {
    const started = startProcess('deploy/local/event-store/main.ts', {
      EVENT_STORE_PORT: String(port),
      EVENT_STORE_DATABASE_URL: database.url,
    });
    resources.defer(() => started.kill());
    await started.says('event store listening');
    return started;
  };
  const source = await stores.start();
  await fill(source, ROUNDS, 1);
  const target = await startTarget();
  const [from, to] = [stores.open(source), stores.open(`esdb://127.0.0.1:${port}?tls=false`)];
  const restarts: Promise<ServiceProcess>[] = [];
  const restart = (): void => {
    if (restarts.length === 0) restarts.push(target.kill().then(startTarget));
  };
  const copied = await copyLog(serverSource(from), to, restart, untilEnd());
  expect(restarts).toHaveLength(1);
  await Promise.all(restarts);
  // Appends whose answer was lost are copied once and not counted.
  expect(copied).toBeLessThanOrEqual(ROUNDS);
  expect(await compare(from, to)).toMatchObject({ isEqual: true });
});
