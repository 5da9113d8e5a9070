import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Browsers, createBrowsers } from '#application/sign-in/browsers.ts';
import { createBrowserSignInTables } from '#application/sign-in/tables.ts';
import { Refusal } from '#contracts/errors.ts';
import { apiKeysStream } from '#contracts/events/workspace/workspace.ts';
import { ALERT_RULES_MAX, TEST_SENDS_PER_MINUTE } from '#contracts/resources/workspace/alert.ts';
import { ACTIVE_KEYS_MAX } from '#contracts/resources/workspace/api-key.ts';
import { NOTES_MAX } from '#contracts/resources/workspace/note.ts';
import { REPORTS_QUEUED_MAX } from '#contracts/resources/workspace/report.ts';
import { SAVED_ITEMS_MAX } from '#contracts/resources/workspace/saved-item.ts';
import { CONNECTIONS_MAX } from '#domain/workspace/connection.ts';
import { BROWSERS_MAX } from '#domain/workspace/sign-in.ts';
import {
  alertsThrough,
  openLoopbackChannels,
  openReceiver,
  type Receiver,
  ruleOn,
} from '../../operations/fixtures/alerting.ts';
import type { CorpusBrand } from '../../operations/fixtures/corpus.ts';
import { systemClock } from '#platform/clock.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { type Connections, createConnections } from '#services/mcp/sign-in/connections.ts';
import { METADATA } from '#tests/delivery/new-delivery.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { attack } from '../attack.ts';

/** The minute stands still, so that no attack runs over its end. */
const clock = { now: () => new Date('2026-11-20T12:00:30.000Z') };

const PROCESSES = 4;
const PLACES = 5;
const CREATIONS = 49;
/** Limit of a wait for a connection, however busy the machine is. */
const PATIENCE_MS = 60_000;

let stack: ApiStack;
let app: FastifyInstance;
let processes: readonly FastifyInstance[];
let receiver: Receiver;
let brands: readonly CorpusBrand[];
beforeAll(async () => {
  stack = await openApiStack();
  receiver = await openReceiver();
  [app, brands] = await Promise.all([
    stack.api({ alertChannels: openLoopbackChannels(), clock }),
    stack.seed(['alpha']),
    createBrowserSignInTables(stack.pool),
  ]);
  processes = [
    app,
    ...(await Promise.all(Array.from({ length: PROCESSES - 1 }, () => stack.api({ clock })))),
  ];
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

attack('refused test sends reach no receiver, over all rules of a workspace', async () => {
  const alerts = alertsThrough(app);
  const key = await stack.key();
  await alerts.track(key, brands);
  const rules: string[] = [];
  for (const path of ['one', 'two']) {
    const rule = ruleOn(brands, { email: false, webhook_url: `${receiver.url}/${path}` });
    rules.push((await alerts.created(key, rule)).id);
  }
  const statuses: number[] = [];
  for (let sent = 0; sent < 2 * TEST_SENDS_PER_MINUTE; sent += 1)
    statuses.push((await alerts.test(key, rules[sent % 2] ?? '')).status);
  const counts = [200, 409].map((status) => statuses.filter((one) => one === status).length);
  expect(counts).toEqual([TEST_SENDS_PER_MINUTE, TEST_SENDS_PER_MINUTE]);
  expect(receiver.received).toHaveLength(TEST_SENDS_PER_MINUTE);
  return `${counts[0]} sent, ${counts[1]} refused, ${receiver.received.length} received`;
});

attack('a member signs in in as many browsers as the cap allows, and others are not concerned', async () => {
  const browsers = createBrowsers(stack.pool);
  const [account, other] = [randomUUID(), randomUUID()];
  let signedIn = 0;
  let refusal: unknown;
  for (let count = 0; count <= BROWSERS_MAX && refusal === undefined; count += 1) {
    try {
      await browsers.open(account, 'code');
      signedIn += 1;
    } catch (error) {
      refusal = error;
    }
  }
  expect(signedIn).toBe(BROWSERS_MAX);
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toMatchObject({
    code: 'limit_reached',
    message: expect.stringContaining(String(BROWSERS_MAX)) as string,
  });
  expect(await browsers.open(other, 'code')).toMatch(/^[\w-]{40,}$/);
  return `${signedIn} browsers, then 409`;
});

const report = () => ({ from: '2026-11-01', to: '2026-11-10' });

const createAtOnce = async (
  key: Key,
  path: string,
  body: (place: number) => object,
  count = CREATIONS,
): Promise<number[]> => {
  const sent = Array.from({ length: count }, async (_, place) => {
    const process = processes[place % PROCESSES] ?? app;
    const { statusCode, body: text } = await process.inject({
      method: 'POST',
      url: `/v1/workspaces/${key.workspaceId}/${path}`,
      headers: { authorization: `Bearer ${key.text}`, 'content-type': 'application/json' },
      payload: body(place),
    });
    if (![201, 409].includes(statusCode)) throw new Error(`${path}: ${statusCode} ${text}`);
    return statusCode;
  });
  return (await Promise.all(sent)).toSorted((one, other) => one - other);
};

type Filled = {
  readonly name: string;
  readonly fill: (key: Key) => Promise<unknown>;
  readonly path: string;
  readonly body: (place: number) => object;
};

/** Adds rows as the projection writes them: that many creations would take minutes. */
const addRows = (sql: string) => (key: Key) => stack.pool.query(sql, [key.workspaceId, key.memberId]);

/** List whose decider keeps the cap, because it is one stream. */
const EXACT = 'API keys';

const LISTS: readonly Filled[] = [
  {
    name: 'notes',
    fill: addRows(`insert into notes.note select $1, gen_random_uuid(), 'creative_record', 'recorded-' || n, 'a', $2,
      '2026-11-20T12:00:00.000Z', '2026-11-20T12:00:00.000Z' from generate_series(1, ${NOTES_MAX - PLACES}) n`),
    path: 'notes',
    body: (place) => ({ subject_type: 'creative_record', subject_key: `record-${1_000 + place}`, body: 'a' }),
  },
  {
    name: 'saved items',
    fill: addRows(`insert into saved.item select $1, 'creative_record', 'recorded-' || n, $2, '2026-11-20T12:00:00.000Z'
      from generate_series(1, ${SAVED_ITEMS_MAX - PLACES}) n`),
    path: 'saved',
    body: (place) => ({ item_type: 'creative_record', item_key: `record-${1_000 + place}` }),
  },
  {
    name: 'alert rules',
    fill: async (key) => {
      await alertsThrough(app).track(key, brands);
      await addRows(`insert into alerts.alert (workspace_id, alert_id, name, trigger, brand_ids, cadence, email, enabled,
        created_by, created_at, updated_at) select $1, gen_random_uuid(), 'a', 'new_ads', '{}', 'daily', true, true,
        $2, '2026-11-20T12:00:00.000Z', '2026-11-20T12:00:00.000Z' from generate_series(1, ${ALERT_RULES_MAX - PLACES})`)(
        key,
      );
    },
    path: 'alerts',
    body: () => ruleOn(brands),
  },
  {
    name: 'queued reports',
    fill: async (key) => {
      const statuses = await createAtOnce(key, 'reports', report, REPORTS_QUEUED_MAX - PLACES);
      expect(statuses).toEqual(statuses.map(() => 201));
    },
    path: 'reports',
    body: report,
  },
  {
    name: 'API keys',
    fill: async (key) => {
      const stream = apiKeysStream(key.workspaceId);
      const issued = Array.from({ length: ACTIVE_KEYS_MAX - PLACES - 1 }, (_, place) => ({
        type: 'ApiKeyIssued' as const,
        data: {
          workspace_id: key.workspaceId,
          key_id: `key-${place}`,
          sha256: `${key.workspaceId}-${place}`,
          last_four: '0000',
          member_id: key.memberId,
          name: 'a',
          scopes: ['brands:read' as const],
          issued_at: clock.now().toISOString(),
        },
      }));
      await stack.eventStore.append(stream, 0n, issued, METADATA, randomUUID());
    },
    path: 'api-keys',
    body: (place) => ({ name: `key ${place}`, scopes: ['brands:read'] }),
  },
];

attack('a list grows beyond its cap by what is created at the same time only', async () => {
  const figures: string[] = [];
  for (const { name, fill, path, body } of LISTS) {
    const key = await stack.key({ plan: 'business' });
    await fill(key);
    const created = (await createAtOnce(key, path, body)).filter((status) => status === 201).length;
    expect(created, name).toBeGreaterThanOrEqual(PLACES);
    if (name === EXACT) expect(created).toBe(PLACES);
    // Once the read model shows them, nothing more is created.
    await stack.projected(await stack.eventStore.head());
    const later = await createAtOnce(key, path, (place) => body(CREATIONS + place));
    expect(later, name).toEqual(later.map(() => 409));
    figures.push(`${name} ${created}`);
  }
  return `${CREATIONS} creations at ${PLACES} below each cap: ${figures.join(', ')}, and later ones 409`;
});

const countAllowed = async (calls: readonly Promise<unknown>[]): Promise<number> => {
  const settled = await Promise.allSettled(calls);
  for (const one of settled)
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'limit_reached' });
  return settled.filter(({ status }) => status === 'fulfilled').length;
};

attack(
  'concurrent sign-ins fill their list up to the cap, and apps that are allowed later are refused',
  async () => {
    const key = await stack.key();
    const opened = Array.from({ length: PROCESSES }, () =>
      openPool(stack.environment['DATABASE_URL'] ?? '', 4, { connectionTimeoutMillis: PATIENCE_MS }),
    );
    try {
      const account = randomUUID();
      const browsers = opened.map(createBrowsers);
      const signIns = Array.from({ length: BROWSERS_MAX + CREATIONS }, (_, place) =>
        (browsers[place % PROCESSES] as Browsers).open(account, 'code'),
      );
      const signedIn = await countAllowed(signIns);
      expect(signedIn).toBe(BROWSERS_MAX);
      const apps = opened.map((pool) =>
        createConnections({
          pool,
          workspaceCommands: stack.workspaceCommands,
          clock: systemClock,
          connectionDays: 1,
        }),
      );
      const allow = (place: number): Promise<void> =>
        (apps[place % PROCESSES] as Connections).allow({
          connectionId: `con_${randomUUID()}`,
          workspaceId: key.workspaceId,
          memberId: key.memberId,
          app: { id: `app-${place}`, name: 'a', identified_by: 'registration', redirect_host: 'a.example' },
          scopes: ['brands:read'],
          role: 'owner',
        });
      const allowed = await countAllowed(
        Array.from({ length: CONNECTIONS_MAX + CREATIONS }, (_, place) => allow(place)),
      );
      expect(allowed).toBeGreaterThanOrEqual(CONNECTIONS_MAX);
      expect(await countAllowed(Array.from({ length: CREATIONS }, (_, place) => allow(place)))).toBe(0);
      return `${signedIn} browsers, ${allowed} apps`;
    } finally {
      await Promise.all(opened.map((pool) => pool.end()));
    }
  },
);
