import { metadataOf } from '#tests/dsl/metadata.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUser } from 'nkeys.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { findNatsServer } from '#deploy/local/nats/binary.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { findOrCreateAccount } from '#deploy/local/postgres/account.ts';
import { startPostgres } from '#deploy/local/postgres/start.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openLeases } from '#platform/postgres/lease/leases.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { createTestDatabase } from '#tests/stack/database.ts';
import { until } from '#tests/stack/wait-until.ts';
import { type Certificates, makeCertificates } from './certificates.ts';

// Only the URLs configure TLS with a private authority.
const CACHE = join(import.meta.dirname, '../../../.cache/nats');
const START_MS = 60_000;

let folder: string;
let files: Certificates;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tls-'));
  await chmod(folder, 0o755);
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  files = makeCertificates(folder);
});
afterAll(() => resources.disposeAsync());

describe('Postgres', () => {
  let url: string;
  beforeAll(async () => {
    const account = await findOrCreateAccount();
    const key = join(folder, 'postgres.key');
    copyFileSync(files.key, key);
    chmodSync(key, 0o600);
    if (account) chownSync(key, account.uid, account.gid);
    chmodSync(files.certificate, 0o644);
    const postgres = await startPostgres({
      folder: join(folder, 'postgres'),
      port: 0,
      settings: { ssl: 'on', ssl_cert_file: files.certificate, ssl_key_file: key, fsync: 'off' },
    });
    resources.defer(() => postgres.stop());
    url = postgres.url;
  });

  const IS_ENCRYPTED = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
  const verifying = (ca: string): string => `${url}?sslmode=verify-full&sslrootcert=${ca}`;

  test('accepts encrypted connections of every kind, with a verified certificate', async () => {
    const pool = openPool(verifying(files.ca), 1);
    expect((await pool.query(IS_ENCRYPTED)).rows).toEqual([{ ssl: true }]);
    await pool.end();
    await using db = openReadDatabase(verifying(files.ca));
    expect(await db.query({ sql: IS_ENCRYPTED, values: [] })).toEqual([{ ssl: true }]);
    expect(await db.slow({ sql: IS_ENCRYPTED, values: [] })).toEqual([{ ssl: true }]);
    await using leases = await openLeases(verifying(files.ca));
    expect(await leases.acquire({ kind: 'tls', part: 'all' })).not.toBeNull();
  });

  test('is rejected by the client when another authority signed its certificate', async () => {
    const pool = openPool(verifying(files.otherCa), 1);
    await expect(pool.query('select 1')).rejects.toThrow(/certificate/);
    await pool.end();
  });
});

describe('NATS', () => {
  const user = createUser();
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    const configuration = join(folder, 'nats.conf');
    writeFileSync(
      configuration,
      `listen: "127.0.0.1:${port}"
jetstream { store_dir: ${JSON.stringify(join(folder, 'store'))} }
tls { cert_file: ${JSON.stringify(files.certificate)}, key_file: ${JSON.stringify(files.key)} }
authorization { users: [ { user: "ada", password: "p@ss word" }, { nkey: ${user.getPublicKey()} } ] }
`,
    );
    writeFileSync(join(folder, 'seed'), new TextDecoder().decode(user.getSeed()), { mode: 0o600 });
    const child = spawn(await findNatsServer(undefined, CACHE), ['--config', configuration], {
      stdio: 'ignore',
    });
    resources.defer(async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    });
    await until('NATS answers', START_MS, async () => {
      const nats = await openNats(urlOf('ada:p%40ss%20word@', files.ca), 'test').catch(() => null);
      await nats?.[Symbol.asyncDispose]();
      return nats !== null;
    });
  });
  const urlOf = (credentials: string, ca: string, parameters = ''): string =>
    `tls://${credentials}127.0.0.1:${port}?ca_file=${ca}${parameters}`;

  test('accepts the user and password of the URL', async () => {
    await using nats = await openNats(urlOf('ada:p%40ss%20word@', files.ca), 'test');
    expect((await nats.manager.streams.list().next()).length).toBeGreaterThan(0);
  });

  test('accepts an nkey whose seed is in a file', async () => {
    await using nats = await openNats(urlOf('', files.ca, `&nkey_seed_file=${join(folder, 'seed')}`), 'test');
    expect(nats.connection.isClosed()).toBe(false);
  });

  test('rejects a wrong password, and the client rejects a server of another authority', async () => {
    const refused = await openNats(urlOf('ada:wrong@', files.ca), 'test').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
    expect(String(refused)).not.toContain('wrong');
    await expect(openNats(urlOf('ada:p%40ss%20word@', files.otherCa), 'test')).rejects.toThrow(
      /certificate|TLS|CONNECTION/i,
    );
    await expect(openNats(`nats://ada:x@127.0.0.1:${port}`, 'test')).rejects.toThrow(
      /certificate|TLS|CONNECTION/i,
    );
  });
});

describe('the event store', () => {
  let url: string;
  beforeAll(async () => {
    const database = await createTestDatabase();
    resources.defer(() => database.drop());
    const store = await startEventStore({
      databaseUrl: database.url,
      host: '127.0.0.1',
      port: 0,
      tls: { key: readFileSync(files.key), certificate: readFileSync(files.certificate) },
    });
    resources.defer(() => store.stop());
    url = store.url.replace('esdb://', 'esdb://ada:secret@');
  });

  const metadata = metadataOf('c');

  test('accepts an encrypted connection with a verified certificate', async () => {
    await using store = openEventStore(`${url}&tlsCAFile=${files.ca}`);
    await store.append(
      'tls-1',
      -1n,
      [{ type: 'Tried', data: {} }],
      metadata,
      '00000000-0000-4000-8000-000000000001',
    );
    expect((await store.last('tls-1'))?.type).toBe('Tried');
  });

  test('is rejected by the client when another authority signed its certificate', async () => {
    await using store = openEventStore(`${url}&tlsCAFile=${files.otherCa}`);
    await expect(store.last('tls-1')).rejects.toThrow(/certificate|unavailable/i);
  });
});
