import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EventStoreDBClient, jsonEvent, UnavailableError } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
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

/** Starts plain Node, as `npm start` does. */
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

  test('makes the password of its file at the first start, and refuses clients without it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'event-store-'));
    const file = join(folder, 'made', 'password');
    try {
      const passwords: string[] = [];
      for (const round of [1, 2]) {
        const port = await freePort();
        const { child, output } = start({
          EVENT_STORE_PORT: String(port),
          EVENT_STORE_DATABASE_URL: database.url,
          EVENT_STORE_PASSWORD_FILE: file,
        });
        await expect.poll(output, { timeout: 30_000 }).toContain('event store listening');
        expect(output()).toContain(file);
        const password = await readFile(file, 'utf8');
        passwords.push(password);
        expect(output()).not.toContain(password);
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        await using stranger = openEventStore(`esdb://127.0.0.1:${port}?tls=false`);
        await expect(stranger.last(`test-${round}`)).rejects.toThrow('password is wrong or missing');
        await using client = openEventStore(`esdb://service:${password}@127.0.0.1:${port}?tls=false`);
        expect(await client.last(`test-${round}`)).toBeNull();
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      expect(new Set(passwords).size).toBe(1);
      expect(passwords[0]?.length).toBeGreaterThanOrEqual(24);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('exits with code 1 and an explanation when another process writes to the database', async () => {
    const first = await startListening(await freePort());
    const { child, output } = start({
      EVENT_STORE_PORT: String(await freePort()),
      EVENT_STORE_DATABASE_URL: database.url,
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
