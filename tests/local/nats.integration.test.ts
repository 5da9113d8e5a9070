import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clearStaleNatsServer, type LocalNats, startNats } from '#deploy/local/nats/start.ts';
import { isRunning } from '#deploy/local/os/processes.ts';
import { openNats } from '#platform/nats/connection.ts';
import { until } from '../stack/wait-until.ts';

const run = promisify(execFile);
const STREAM = 'OBSERVATIONS';
const GONE_LIMIT_MS = 60_000;

let folder: string;
let running: LocalNats | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-nats-'));
});

afterEach(async () => {
  await running?.stop();
  running = undefined;
  await clearStaleNatsServer(folder);
  await rm(folder, { recursive: true, force: true });
});

const pidOf = async (): Promise<number> => Number(await readFile(join(folder, 'nats.pid'), 'utf8'));

const publish = async (url: string, count: number): Promise<void> => {
  await using nats = await openNats(url, 'test');
  for (let index = 0; index < count; index += 1) {
    await nats.jetstream.publish('observations.brand_example', String(index));
  }
};

const waiting = async (url: string): Promise<number> => {
  await using nats = await openNats(url, 'test');
  return (await nats.manager.streams.info(STREAM)).state.messages;
};

describe('startNats', () => {
  test('keeps every acknowledged message after kill -9 of the server', async () => {
    const killed = await startNats({ folder, port: 0 });
    await publish(killed.url, 200);
    const pid = await pidOf();
    process.kill(pid, 'SIGKILL');
    await until('the server is gone', GONE_LIMIT_MS, async () => !(await isRunning(pid)));
    running = await startNats({ folder, port: 0 });
    expect(await waiting(running.url)).toBe(200);
  });

  test('drops a message that is published twice with the same id', async () => {
    running = await startNats({ folder, port: 0 });
    await using nats = await openNats(running.url, 'test');
    const first = await nats.jetstream.publish('observations.brand_example', 'a', { msgID: 'same' });
    const second = await nats.jetstream.publish('observations.brand_example', 'a', { msgID: 'same' });
    expect([first.duplicate, second.duplicate]).toEqual([false, true]);
  });

  test('stops a server that survived the process that started it, and serves its folder', async () => {
    const source = resolve(import.meta.dirname, '../../deploy/local/nats/start.ts');
    const script = `const { startNats } = await import(${JSON.stringify(source)});
      await startNats({ folder: ${JSON.stringify(folder)}, port: 0 });
      process.kill(process.pid, 'SIGKILL');`;
    await run(process.execPath, ['--input-type=module', '-e', script]).catch(() => undefined);
    const orphan = await pidOf();
    expect(await isRunning(orphan)).toBe(true);
    running = await startNats({ folder, port: 0 });
    expect(await isRunning(orphan)).toBe(false);
    expect(await pidOf()).not.toBe(orphan);
  });

  test('refuses a folder whose server is in use', async () => {
    running = await startNats({ folder, port: 0 });
    await expect(startNats({ folder, port: 0 })).rejects.toThrow(/in use by a running server/);
    expect(await waiting(running.url)).toBe(0);
  });

  test('does not stop another program that now has the recorded process id', async () => {
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    try {
      await writeFile(join(folder, 'nats.pid'), String(stranger.pid));
      running = await startNats({ folder, port: 0 });
      expect(stranger.exitCode).toBeNull();
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  test('chooses another port when the preferred one is taken', async () => {
    running = await startNats({ folder, port: 0 });
    const other = await mkdtemp(join(tmpdir(), 'local-nats-'));
    const second = await startNats({ folder: other, port: running.port });
    try {
      expect(second.port).not.toBe(running.port);
      await (await openNats(second.url, 'test'))[Symbol.asyncDispose]();
    } finally {
      await second.stop();
      await rm(other, { recursive: true, force: true });
    }
  });
});
