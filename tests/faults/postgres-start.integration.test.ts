import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { choosePort, freePort } from '#deploy/local/os/ports.ts';
import { startPostgres } from '#deploy/local/postgres/start.ts';
import { STACK_FOLDER_PREFIX, stackRoot } from '../stack/stale-databases.ts';

const POSTGRES = fileURLToPath(new URL('../../deploy/local/postgres/start.ts', import.meta.url));
const TIME_LIMIT_MS = 60_000;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(await stackRoot(), `${STACK_FOLDER_PREFIX}${process.pid}-`));
  await chmod(folder, 0o755);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const cluster = () => join(folder, 'postgres');

async function postmaster(): Promise<number> {
  const text = await readFile(join(cluster(), 'cluster', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

async function startInAnotherProcess(): Promise<ChildProcess> {
  const script =
    `import { startPostgres } from ${JSON.stringify(POSTGRES)};` +
    `await startPostgres({ folder: ${JSON.stringify(cluster())}, port: 0 });` +
    `console.log('started'); setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', () => reject(new Error('It ended before the database was started.')));
  });
  return child;
}

async function countRows(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table if not exists visit (id int generated always as identity)');
  await client.query('insert into visit default values');
  const answer = await client.query<{ visits: number }>('select count(*)::int as visits from visit');
  await client.end();
  return answer.rows[0]?.visits ?? 0;
}

async function visit(): Promise<number> {
  const postgres = await startPostgres({ folder: cluster(), port: 0 });
  try {
    await postgres.createDatabase('visits');
    await postgres.createDatabase('visits');
    return await countRows(postgres.databaseUrl('visits'));
  } finally {
    await postgres.stop();
  }
}

describe('starting the local database', { timeout: TIME_LIMIT_MS }, () => {
  test('resumes with its data after a stop and after each kind of kill', async () => {
    expect(await visit()).toBe(1);
    expect(await visit()).toBe(2);

    const orphaning = await startInAnotherProcess();
    const orphan = await postmaster();
    await kill(orphaning);
    process.kill(orphan, 0);
    expect(await visit()).toBe(3);

    const both = await startInAnotherProcess();
    process.kill(await postmaster(), 'SIGKILL');
    await kill(both);
    expect(await visit()).toBe(4);
  });

  test('refuses a folder that a running process uses, and leaves its server running', async () => {
    const other = await startInAnotherProcess();
    const pid = await postmaster();
    await expect(visit()).rejects.toThrow(/is in use by a running server/);
    process.kill(pid, 0);
    await kill(other);
    expect(await visit()).toBe(5);
  });

  test('chooses another port when the preferred one is taken, below the range of outgoing connections', async () => {
    const port = await freePort();
    expect(await choosePort(port)).toBe(port);
    const holder = createServer().listen(port, '127.0.0.1');
    await once(holder, 'listening');
    const other = await choosePort(port);
    holder.close();
    expect(other).not.toBe(port);
    expect(other).toBeLessThan(32_768);
  });
});

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
