import { brandProfile } from '#tests/dsl/site-events.ts';
import { request as httpRequest } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INTAKE_DETAIL_CODES } from '#contracts/intake.ts';
import { ErrorBody } from '#contracts/resources/envelope.ts';
import { createCollectorTables } from '#application/collectors/collector-keys.ts';
import { systemClock } from '#platform/clock.ts';
import { silentLog } from '#platform/logger.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { openFolderStore } from '#platform/object-store/open-object-store.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { type Database, openPool, requestPoolSettings } from '#platform/postgres/pool.ts';
import { REQUEST_ANSWER_MS } from '#platform/postgres/settings.ts';
import { buildIntake, type IntakeResources } from '#services/intake/server/server.ts';
import { issueCollectorKey, revokeCollector } from '#services/ops/workspaces.ts';
import { createTestDatabase, createTestNats } from '../stack/database.ts';
import { readQueuedObservations } from '../dsl/queued-observations.ts';

export type Reply = { readonly status: number; readonly headers: Headers; readonly body: unknown };

export type IntakeServer = AsyncDisposable & {
  readonly url: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly database: Database;
  readonly nats: Nats;
  readonly objectStore: ObjectStore;
  issue(name: string, types?: readonly string[]): Promise<{ readonly text: string; readonly keyId: string }>;
  revoke(keyId: string): Promise<unknown>;
  queued(): Promise<readonly Queued[]>;
};
export type Queued = {
  readonly subject: string;
  readonly type: string;
  readonly observation: Readonly<Record<string, unknown>>;
};

/** Returns the messages in order, without consuming them. */
export const queuedIn = async (nats: Nats): Promise<readonly Queued[]> =>
  (await readQueuedObservations(nats)).map(({ subject, type, json }) => ({
    subject,
    type,
    observation: json as Queued['observation'],
  }));

export const openIntakeServer = async (
  options: Partial<
    Pick<IntakeResources, 'bodyTimeoutMs' | 'clock' | 'taskClock' | 'refusedPerMinute' | 'trustedProxies'>
  > = {},
): Promise<IntakeServer> => {
  const resources = new AsyncDisposableStack();
  const created = await createTestDatabase();
  resources.defer(() => created.drop());
  const server = await createTestNats();
  resources.defer(() => server.stop());
  const folder = await mkdtemp(join(tmpdir(), 'intake-objects-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  const database = openPool(created.url, 4, requestPoolSettings(REQUEST_ANSWER_MS));
  resources.defer(() => database.end());
  await createCollectorTables(database);
  const nats = resources.use(await openNats(server.url, 'test'));
  const objectStore = openFolderStore(folder);
  const app = buildIntake({ database, nats, objectStore, clock: systemClock, log: silentLog(), ...options });
  resources.defer(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    databaseUrl: created.url,
    natsUrl: server.url,
    database,
    nats,
    objectStore,
    issue: async (name, types) => {
      const issued = await issueCollectorKey({ pool: database }, name, types ?? null);
      return { text: issued.collector_key, keyId: issued.key_id };
    },
    revoke: (keyId) => revokeCollector({ pool: database }, keyId),
    queued: () => queuedIn(nats),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

export const NDJSON = 'application/x-ndjson';

type Sending = {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
};

/** An error reply must match the error body of the contract. */
export const send = async (
  url: string,
  body: string | Uint8Array<ArrayBuffer> | null,
  { key, headers = {}, method = 'POST' }: Sending,
): Promise<Reply> => {
  const reply = await fetch(url, {
    method,
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
    body,
  });
  const content: unknown = await reply.json();
  if (reply.status >= 400) checkErrorBody(reply, content);
  return { status: reply.status, headers: reply.headers, body: content };
};

const OWN_CODES: readonly string[] = INTAKE_DETAIL_CODES;
const OWN_TYPES = ['payload_too_large', 'unsupported_media_type', 'unavailable'];

const checkErrorBody = ({ status, headers }: Response, content: unknown): void => {
  const { error } = content as { error: { type: string; status: number; request_id: string } };
  const known: unknown = JSON.parse(JSON.stringify(content), (name, value) => {
    if (name === 'type' && OWN_TYPES.includes(value)) return 'internal';
    return name === 'code' && OWN_CODES.includes(value) ? 'custom' : value;
  });
  ErrorBody.parse(known);
  if (error.status !== status) throw new Error(`body names status ${error.status}, reply has ${status}`);
  if (error.request_id !== headers.get('x-request-id')) throw new Error('request ids differ');
};

export const sendLines = (
  { url }: { readonly url: string },
  key: string,
  lines: readonly unknown[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> =>
  send(
    `${url}/intake/observations`,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    { key, headers: { 'content-type': NDJSON, ...headers } },
  );

/** Never sends the rest of the body. Returns status and body of the reply. */
export const sendPartOf = (
  url: string,
  key: string,
  part: string,
  { method = 'POST', contentLength = 10_000 } = {},
): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': NDJSON, 'content-length': contentLength },
    });
    request.on('error', reject);
    request.on('response', (reply) => {
      let body = '';
      reply.on('data', (chunk: Buffer) => (body += chunk.toString()));
      reply.on('end', () => {
        resolve({ status: reply.statusCode ?? 0, body });
        request.destroy();
      });
    });
    request.write(part);
  });

export const AT = '2026-05-02T10:00:00.000Z';

/** A valid observation whose domain tells it from others. */
export const profileOf = (domain: string, observed_at = AT) => brandProfile({ domain, observed_at });
