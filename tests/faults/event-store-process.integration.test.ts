import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EventStoreDBClient, jsonEvent, UnavailableError } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { createTestDatabase } from '../stack/database.ts';

const MAIN = fileURLToPath(new URL('../../deploy/local/event-store/main.ts', import.meta.url));

let database: Awaited<ReturnType<typeof createTestDatabase>>;
const running: ChildProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await database.drop();
});

/** Starts the process as `npm start` does: plain Node, settings from the environment. */
function start(settings: Record<string, string>): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [MAIN], { env: settings, stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  }
  return { child, output: () => output };
}

async function startListening(port: number): Promise<ChildProcess> {
  const { child, output } = start({ EVENT_STORE_PORT: String(port), EVENT_STORE_DATABASE_URL: database.url });
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(output())));
    child.stdout?.on('data', () => {
      if (output().includes('event store listening')) resolve();
    });
  });
  return child;
}

describe('the event store process', () => {
  test('names every invalid setting and exits with code 1', async () => {
    const { child, output } = start({ EVENT_STORE_PORT: 'high', EVENT_STORE_DATABASE_URL: 'nowhere' });
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(output()).toContain('EVENT_STORE_PORT');
    expect(output()).toContain('EVENT_STORE_DATABASE_URL');
  });

  test('exits with code 1 and an explanation when another process writes to the database', async () => {
    const first = await startListening(await freePort());
    const { child, output } = start({
      EVENT_STORE_PORT: String(await freePort()),
      EVENT_STORE_DATABASE_URL: database.url,
      EVENT_STORE_LOCK_WAIT_MS: '300',
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(output()).toContain('Another event store process writes to this database');
    first.kill('SIGTERM');
    await once(first, 'exit');
  });

  test('takes over from a process that is killed at the same time', async () => {
    const first = await startListening(await freePort());
    const second = startListening(await freePort());
    first.kill('SIGKILL');
    const child = await second;
    expect(child.exitCode).toBeNull();
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  test('exits with code 0 on SIGTERM, after completing accepted appends and ending subscriptions', async () => {
    const port = await freePort();
    const child = await startListening(port);
    const client = EventStoreDBClient.connectionString(`esdb://127.0.0.1:${port}?tls=false`);
    const subscription = client.subscribeToAll();
    subscription.on('data', () => undefined);
    const ended = new Promise((resolve) => subscription.once('error', resolve));
    await new Promise((resolve) => subscription.once('caughtUp', resolve));
    const appends = Array.from({ length: 50 }, (_, number) =>
      client.appendToStream(`stopping-${number}`, jsonEvent({ type: 'Written', data: {} })),
    );
    await Promise.any(appends);
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    // At the deadline of a stop, the process would exit with code 1.
    expect(code).toBe(0);
    expect(await ended).toBeInstanceOf(UnavailableError);
    const outcomes = await Promise.allSettled(appends);
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(failures.filter((reason) => !(reason instanceof UnavailableError))).toEqual([]);
  });
});
