import { metadataOf } from '#tests/dsl/metadata.ts';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'node:net';
import pg from 'pg';
import { expect, inject } from 'vitest';
import { z } from 'zod';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { startNats } from '#deploy/local/nats/start.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { openNats } from '#platform/nats/connection.ts';
import { readSettings, serverSettings } from '#platform/settings.ts';
import { createTestDatabase } from '../stack/database.ts';
import { attack } from './attack.ts';

/** Other users of this machine attack the servers of `npm start`. */

const METADATA = metadataOf('c');
const COMMAND = '00000000-0000-4000-8000-000000000001';

const CONNECT_LIMIT_MS = 2_000;

const accepts = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: CONNECT_LIMIT_MS });
    const end = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false));
  });

const outerAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address),
  );

const withoutUser = (url: string): string => url.replace(/\/\/[^@/]*@/, '//');
const withPassword = (url: string, password: string): string => url.replace(/:[^:@/]*@/, `:${password}@`);

attack('local servers accept no client without their password, and listen on loopback only', async () => {
  await using resources = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'servers-attack-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  let refused = 0;

  const nats = await startNats({ folder: join(folder, 'nats'), port: 0 });
  resources.defer(() => nats.stop());
  for (const url of [withoutUser(nats.url), withPassword(nats.url, 'wrong')]) {
    await expect(openNats(url, 'attack')).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
    refused += 1;
  }
  await (await openNats(nats.url, 'attack'))[Symbol.asyncDispose]();

  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const store = await startEventStore({
    databaseUrl: database.url,
    host: '127.0.0.1',
    port: 0,
    credentials: { user: 'service', password: 'pass word@/+' },
  });
  resources.defer(() => store.stop());
  const events = [{ type: 'Tried', data: {} }];
  for (const url of [withoutUser(store.url), withPassword(store.url, 'wrong')]) {
    await using stranger = openEventStore(url, { answerWithinMs: 10_000 });
    await expect(stranger.last('servers-1')).rejects.toThrow(/user or password/);
    await expect(stranger.head()).rejects.toThrow(/user or password/);
    await expect(stranger.append('servers-1', -1n, events, METADATA, COMMAND)).rejects.toThrow(
      /user or password/,
    );
    refused += 3;
  }
  await using service = openEventStore(store.url);
  expect(await service.last('servers-1')).toBeNull();
  await service.append('servers-1', -1n, events, METADATA, COMMAND);
  expect((await service.last('servers-1'))?.type).toBe('Tried');

  const client = new pg.Client({
    connectionString: withPassword(withoutParameters(inject('databaseUrl')), 'wrong'),
  });
  await expect(client.connect()).rejects.toMatchObject({ code: '28P01' });
  refused += 1;

  const { port: postgresPort } = new URL(inject('databaseUrl'));
  let closed = 0;
  for (const address of outerAddresses()) {
    for (const port of [nats.port, store.port, Number(postgresPort)]) {
      expect(await accepts(address, port), `${address}:${port}`).toBe(false);
      closed += 1;
    }
  }
  expect((await stat(join(folder, 'nats'))).mode & 0o777).toBe(0o700);
  for (const file of await readdir(join(folder, 'nats'), { withFileTypes: true })) {
    if (file.isFile() && file.name !== 'nats.pid') {
      expect((await stat(join(folder, 'nats', file.name))).mode & 0o777, file.name).toBe(0o600);
    }
  }
  return `${refused} tries refused, ${closed} outer addresses closed`;
});

attack('no process connects to another host in plain text, unless a setting allows it', () => {
  const schema = z.object(serverSettings);
  const local = {
    DATABASE_URL: 'postgres://me:secret@127.0.0.1/ads',
    EVENT_STORE_URL: 'esdb://localhost:2113?tls=false',
    NATS_URL: 'nats://[::1]:4222',
  };
  const plain = [
    ['DATABASE_URL', 'postgres://me:secret@db.example/ads'],
    ['DATABASE_URL', 'postgres://me:secret@db.example/ads?sslmode=prefer'],
    ['DATABASE_URL', 'postgres://me:secret@127.0.0.1/ads?host=db.example'],
    ['DATABASE_URL', 'postgres://me:secret@localhost.db.example/ads'],
    ['DATABASE_URL', 'postgres://me:secret@db.example/ads?SSLMODE=require'],
    ['DATABASE_URL', 'postgres://me:secret@db.example/ads?sslmode=disable&ssl=true'],
    ['DATABASE_URL', 'postgres://me:secret@db.example/ads?HOST=127.0.0.1'],
    ['EVENT_STORE_URL', 'esdb://me:secret@log.example:2113?t-l-s=false'],
    ['EVENT_STORE_URL', 'esdb+discover://me:secret@log.example:2113?tls=false'],
    ['EVENT_STORE_URL', 'esdb://localhost:2113,log.example:2113?tls=false'],
    ['NATS_URL', 'nats://queue.example:4222'],
    ['NATS_URL', 'nats://127.0.0.1:4222,queue.example:4222'],
  ] as const;
  expect(() => readSettings(schema, local)).not.toThrow();
  for (const [name, url] of plain) {
    const read = (more: object) => () => readSettings(schema, { ...local, [name]: url, ...more });
    const fault = (() => {
      try {
        return read({})() && '';
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(fault, url).toContain(name);
    expect(fault, url).toContain('not be encrypted');
    expect(fault, url).not.toContain('secret');
    expect(read({ SERVERS_ALLOW_PLAIN_TEXT: 'true' }), url).not.toThrow();
  }
  return `${plain.length} URLs refused`;
});

/** Without the parameter that leads to the socket, the URL leads to the TCP port. */
const withoutParameters = (url: string): string => url.split('?', 1)[0] ?? '';
