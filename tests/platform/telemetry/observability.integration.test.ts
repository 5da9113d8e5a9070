import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject, SCRAPE_REQUESTED, SCRAPES_STREAM } from '#contracts/messages/subjects.ts';
import { keyOf, type Observation } from '#contracts/observations/index.ts';
import { brandIdOf, scanIdOf } from '#domain/ids.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { openMemberVault } from '#application/vault/member-vault.ts';
import { headersFrom, openNats } from '#platform/nats/connection.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { createWorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { projections } from '#projections/index.ts';
import { addPerson, createWorkspaceNamed, issueKey } from '#services/ops/workspaces.ts';
import { openReceivers, type Receivers } from '#tests/delivery/receivers.ts';
import { ad, PAGE } from '#tests/dsl/scans.ts';
import { createTestDatabase, createTestEventStore, createTestNats } from '#tests/stack/database.ts';
import { type RunningService, SERVICE_SECRETS, startService } from '#tests/stack/service.ts';
import { until } from '#tests/stack/wait-until.ts';

// One trace must cross all processes, without private data in a log, span or error reply.
const WAIT_MS = 60_000;
const LIMIT_MS = 240_000;
const DOMAIN = 'shop.example';
const BRAND = brandIdOf(DOMAIN);
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const EMAIL = 'ada.lovelace@private.example';
const NAME = 'Ada of the Quiet Street';
const CHAT_PATH = '/services/T000/B000/chatsecretchatsecret';

type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly service: string;
};

type Attribute = { readonly key: string; readonly value: { readonly stringValue?: string } };
type Resource = { readonly attributes: readonly Attribute[] };
type Metric = {
  readonly name: string;
  readonly histogram?: {
    readonly dataPoints: readonly {
      readonly attributes: readonly Attribute[];
      readonly count: string | number;
      readonly bucketCounts: readonly (string | number)[];
      readonly explicitBounds: readonly number[];
    }[];
  };
};
type Received = {
  readonly resourceSpans?: readonly {
    readonly resource: Resource;
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Span, 'service'>[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly resource: Resource;
    readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[];
  }[];
};

const processOf = ({ attributes }: Resource): string =>
  attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';

const openReceiver = async () => {
  const spans: Span[] = [];
  /** The last metrics of each process. */
  const metrics = new Map<string, readonly Metric[]>();
  let received = '';
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      received += text;
      const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(text) as Received;
      for (const { resource, scopeSpans } of resourceSpans) {
        const service = processOf(resource);
        for (const scope of scopeSpans) for (const span of scope.spans) spans.push({ ...span, service });
      }
      for (const { resource, scopeMetrics } of resourceMetrics) {
        metrics.set(
          processOf(resource),
          scopeMetrics.flatMap((scope) => scope.metrics),
        );
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    spans,
    metrics,
    received: () => received,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const resources = new AsyncDisposableStack();
let otlp: Awaited<ReturnType<typeof openReceiver>>;
let service: RunningService;
let receivers: Receivers;
let servers: { DATABASE_URL: string; EVENT_STORE_URL: string; NATS_URL: string };
let dataFolder: string;
let mailFolder: string;

beforeAll(async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const store = await createTestEventStore();
  resources.defer(() => store.stop());
  const nats = await createTestNats();
  resources.defer(() => nats.stop());
  dataFolder = await mkdtemp(join(tmpdir(), 'observability-mail-'));
  mailFolder = join(dataFolder, 'mail');
  resources.defer(() => rm(dataFolder, { recursive: true, force: true }));
  servers = { DATABASE_URL: database.url, EVENT_STORE_URL: store.url, NATS_URL: nats.url };
  otlp = resources.use(await openReceiver());
  receivers = resources.use(await openReceivers());
  service = resources.use(
    await startService(servers, {
      OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-otlp-key=hush-otlp-header',
      LOG_LEVEL: 'trace',
      DATA_DIR: dataFolder,
      SMTP_URL: '',
      MEMBER_VAULT_KEY: [SERVICE_SECRETS.MEMBER_VAULT_KEY, Buffer.alloc(32, 3).toString('base64')].join(),
    }),
  );
  await service.ready();
}, LIMIT_MS);
afterAll(() => resources.disposeAsync());

const openCustomer = async () => {
  const pool = openPool(servers.DATABASE_URL, 2);
  resources.defer(() => pool.end());
  await createAccessTables(pool);
  const eventStore = resources.use(openEventStore(servers.EVENT_STORE_URL));
  const projectionWait = resources.use(openProjectionWait(servers.DATABASE_URL, pool, silentLog()));
  const memberVault = await openMemberVault(pool, SERVICE_SECRETS.MEMBER_VAULT_KEY);
  const actor = { kind: 'service', id: 'tests' } as const;
  const workspaceCommands = createWorkspaceCommands({ eventStore, pool, projectionWait });
  const operator = { eventStore, workspaceCommands, actor, memberVault };
  const { workspace_id } = await createWorkspaceNamed(operator, 'Observed', 'pro');
  const person = await addPerson(operator, workspace_id, { name: NAME, email: EMAIL }, 'owner');
  const { api_key } = await issueKey(operator, workspace_id, person.member_id, 'tests', 'all');
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    more: Readonly<Record<string, string>> = {},
  ) => {
    const reply = await fetch(`${service.apiUrl}${path.replace('{ws}', workspace_id)}`, {
      method,
      headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json', ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, text: await reply.text(), headers: reply.headers };
  };
  const wait = (position: bigint): Promise<boolean> =>
    projectionWait.wait(
      projections.map(({ name }) => name),
      position,
      WAIT_MS,
    );
  return { workspace_id, api_key, call, eventStore, wait };
};

const scanOf = (at: string, ids: readonly number[]): readonly Observation[] => {
  const key = { scan_id: scanIdOf(DOMAIN, at, ids.join()), brand_domain: DOMAIN, scanned_at: at };
  const coverage = {
    pages: [{ page_id: PAGE, page_name: null }],
    countries: ['US'],
    complete: true,
    collector: 'test',
  };
  const ads = ids.map((id) => ad(id, { link_url: `https://${DOMAIN}/`, started_on: at.slice(0, 10) }));
  return [
    { type: 'ad_library.scan', ...key, chunk: 0, ads },
    { type: 'ad_library.scan_end', ...key, chunks: 1, coverage },
  ] as readonly Observation[];
};

const publish = async (observations: readonly Observation[], traceparent?: string): Promise<void> => {
  await using nats = await openNats(servers.NATS_URL, 'collector');
  for (const observation of observations) {
    const headers = headersFrom(routingHeadersOf(observation));
    if (traceparent !== undefined) headers.set('traceparent', traceparent);
    const text = JSON.stringify(observation);
    await nats.jetstream.publish(observationSubject(keyOf(observation)), text, { headers });
  }
};

const eventsOf = async (stream: string): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  const eventStore = openEventStore(servers.EVENT_STORE_URL);
  try {
    for await (const event of eventStore.read(stream)) events.push(event);
  } finally {
    await eventStore[Symbol.asyncDispose]();
  }
  return events;
};

test('connects all processes in one trace, and leaks no secret to logs, spans or errors', {
  timeout: LIMIT_MS,
}, async () => {
  const customer = await openCustomer();
  const days = (count: number): string => new Date(Date.now() - count * 86_400_000).toISOString();
  const scans = async (): Promise<number> =>
    (await eventsOf(adLibraryStream(BRAND))).filter(({ type }) => type === 'ScanRecorded').length;

  // Only a registered brand can be tracked.
  await publish(scanOf(days(2), [1, 2]));
  await until('the first scan is recorded', WAIT_MS, async () => (await scans()) === 1);
  await customer.wait((await eventsOf(adLibraryStream(BRAND))).at(-1)?.position ?? 0n);

  // The trace continues through the scrape request to the collector.
  const requestId = 'request-of-the-trace-1';
  const tracked = await customer.call(
    'POST',
    '/v1/workspaces/{ws}/tracked-brands',
    { brand_id: BRAND, cadence: 'daily' },
    { traceparent: TRACEPARENT, 'x-request-id': requestId },
  );
  expect(tracked.text, tracked.text).toContain(BRAND);
  const rule = await customer.call('POST', '/v1/workspaces/{ws}/alerts', {
    name: 'Launches',
    trigger: 'new_ads',
    cadence: 'instant',
    brand_ids: [BRAND],
    email: true,
    webhook_url: `${receivers.url}/hook`,
    chat_webhook_url: `${receivers.url}${CHAT_PATH}`,
  });
  expect(rule.status, rule.text).toBe(201);
  const { webhook_secret, id: alertId } = (
    JSON.parse(rule.text) as { data: { webhook_secret: string; id: string } }
  ).data;
  expect(webhook_secret).toMatch(/^whsec_/);

  const [first] = await eventsOf(trackingStream(customer.workspace_id));
  expect(first?.metadata.$correlationId).toBe(requestId);
  expect(first?.metadata.traceparent).toContain(TRACE);
  await using nats = await openNats(servers.NATS_URL, 'collector');
  const scrapeRequest = await nats.manager.streams.getMessage(SCRAPES_STREAM, {
    last_by_subj: SCRAPE_REQUESTED,
  });
  const scrapeTraceparent = scrapeRequest.header.get('traceparent');
  expect(scrapeTraceparent).toContain(TRACE);
  await publish(scanOf(new Date().toISOString(), [1, 2, 3]), scrapeTraceparent);
  await until('the webhook comes', WAIT_MS, () => receivers.at('/hook').length > 0);
  await until('the chat message comes', WAIT_MS, () => receivers.at(CHAT_PATH).length > 0);
  const mails = async () =>
    (await readdir(mailFolder).catch(() => [])).filter((name) => name.endsWith('.eml'));
  await until('the e-mail is written', WAIT_MS, async () => (await mails()).length > 0);
  const [mail = ''] = await mails();
  expect(await readFile(join(mailFolder, mail), 'utf8')).toContain(EMAIL);

  // No error reply may repeat secrets in wrong places.
  const wrongKey = customer.api_key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  const refusals = [
    await customer.call('GET', `/v1/me?api_key=${customer.api_key}`, undefined, { authorization: '' }),
    await customer.call('GET', '/v1/me', undefined, { authorization: `Bearer ${wrongKey}` }),
    await customer.call('GET', `/v1/${customer.api_key}`),
    await customer.call('GET', `/v1/brands?limit=${customer.api_key}`),
    await customer.call('GET', `/v1/brands?cursor=${webhook_secret}`),
    await customer.call('POST', '/v1/workspaces/{ws}/notes', { [customer.api_key]: webhook_secret }),
    await customer.call('PATCH', `/v1/workspaces/{ws}/alerts/${alertId}`, {
      chat_webhook_url: `ftp://hush-chat${CHAT_PATH}`,
    }),
  ];
  for (const { status, text } of refusals) expect(status, text).toBeGreaterThanOrEqual(400);
  await customer.call('POST', `/v1/workspaces/{ws}/alerts/${alertId}/test`, {});
  await customer.call('POST', '/v1/workspaces/{ws}/alerts/webhook-secret', {});
  for (const token of [SERVICE_SECRETS.OPS_TOKEN, 'hush-wrong-token']) {
    await fetch(`${service.opsUrl}/ops/workspaces/${customer.workspace_id}/history`, {
      headers: { authorization: `Bearer ${token}` },
    });
  }

  // A shutdown exports the last spans.
  await Promise.all([...service.processes.values()].map((one) => one.stop()));
  const own = otlp.spans.filter(({ traceId }) => traceId === TRACE);
  const seen = new Set(own.map((span) => `${span.service.replace('ad-intelligence-', '')}: ${span.name}`));
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'api: POST /v1/workspaces/{ws}/tracked-brands',
      'api: append tracking',
      'api: wait for read models',
      'projector: project tracking',
      'ingest: ingest observation',
      'ingest: append adLibrary',
      'projector: project radar',
      'delivery: send webhook',
      'delivery: send chat',
      'delivery: send email',
    ]),
  );
  // Only the caller's own span lacks a parent.
  const ids = new Set([...own.map(({ spanId }) => spanId), 'b7ad6b7169203331']);
  for (const { parentSpanId, name } of own) expect(ids.has(parentSpanId ?? ''), name).toBe(true);

  for (const name of service.processes.keys()) {
    const sent = otlp.metrics.get(`ad-intelligence-${name}`)?.map((metric) => metric.name);
    expect(sent, name).toContain('process_cpu_seconds_total');
  }
  const durations = otlp.metrics
    .get('ad-intelligence-api')
    ?.find(({ name }) => name === 'adintel_api_request_duration_seconds')?.histogram?.dataPoints;
  expect(durations?.length).toBeGreaterThan(3);
  for (const { count, bucketCounts, explicitBounds } of durations ?? []) {
    expect(bucketCounts).toHaveLength(explicitBounds.length + 1);
    expect(bucketCounts.reduce<number>((sum, one) => sum + Number(one), 0)).toBe(Number(count));
  }
  const operations = durations?.flatMap(({ attributes }) => attributes.map(({ value }) => value.stringValue));
  expect(operations).toContain('trackBrand');

  const secrets = {
    'the API key': customer.api_key,
    'what is secret of it': customer.api_key.slice(9, -6),
    'the webhook secret': webhook_secret.slice('whsec_'.length),
    'the chat address': 'chatsecretchatsecret',
    'the e-mail address': EMAIL,
    'the name': NAME,
    'a wrong token': 'hush-wrong-token',
    'the header of the exporter': 'hush-otlp-header',
    'the second key of the vault': Buffer.alloc(32, 3).toString('base64'),
    'the password of Postgres': decodeURIComponent(new URL(servers.DATABASE_URL).password),
    ...SERVICE_SECRETS,
  };
  const logs = service.output();
  expect(logs).toContain(requestId);
  const answers = refusals.map(({ text }) => text).join('\n');
  for (const [what, secret] of Object.entries(secrets)) {
    expect(secret.length, what).toBeGreaterThan(5);
    const lines = logs.split('\n').filter((line) => line.includes(secret));
    expect(lines, `${what} in a log`).toEqual([]);
    expect(otlp.received().includes(secret), `${what} in a span or metric`).toBe(false);
    expect(answers.includes(secret), `${what} in a refusal`).toBe(false);
  }
});
