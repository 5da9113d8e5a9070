import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { createDeliveryTables } from '#application/delivery-outbox/create-tables.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { createAlertsTables } from '#services/alerts/checkpoint.ts';
import type { Attestation } from '#services/ops/attest/attest.ts';
import { createSigningKey, readSigningKey } from '#application/audit/signing-key.ts';
import { buildOps } from '#services/ops/http/server.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { openHostedCommands } from './fixtures/hosted-commands.ts';

const TOKEN = 'the token of the operators';
const NOBODY_LISTENS = '127.0.0.1:1';
const REPLAYS_LIMIT_MS = 240_000;

const commands = openHostedCommands();
const created = createSigningKey();
let stack: ApiStack;
let key: Key;
let environment: Readonly<Record<string, string>>;
let brandId: string;
let root: string;
let publicKey: string;

type Outcome = { readonly code: number; readonly word: string; readonly reasons: string };
const attest = async (
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = environment,
): Promise<Outcome> => {
  const { code, stdout, stderr } = await commands.run(['attest', ...words], env);
  return { code, word: stdout.trim(), reasons: stderr };
};
const check = (file: string, ...words: readonly string[]) =>
  // An empty environment: no server is needed.
  commands.run(['attest', 'verify', file, ...words], {});

/** The log without one event. */
const without = (eventStore: EventStore, stream: string, revision: bigint): EventStore => ({
  ...eventStore,
  follow: (options) => {
    const follower = eventStore.follow(options);
    return {
      take: async (max) =>
        (await follower.take(max)).filter(
          (item) => item.kind !== 'event' || item.event.stream !== stream || item.event.revision !== revision,
        ),
      [Symbol.asyncDispose]: () => follower[Symbol.asyncDispose](),
    };
  },
});

const attestOver = async (eventStore: EventStore): Promise<Attestation> => {
  await using db = openReadDatabase(environment['DATABASE_URL'] ?? '');
  await using app = buildOps({
    db,
    pool: stack.pool,
    eventStore,
    nats: () => stack.nats,
    serverChecks: {},
    archiveCallsPerHour: 150,
    memberVault: null,
    auditSigningKey: null,
    token: TOKEN,
    log: silentLog(),
  });
  const headers = { authorization: `Bearer ${TOKEN}` };
  return (await app.inject({ url: '/ops/attest', headers })).json<{ data: Attestation }>().data;
};

const HOSTILE = '<script>alert(1)</script><!-- "\u202e';

beforeAll(async () => {
  stack = await openApiStack();
  environment = { ...stack.environment, AUDIT_SIGNING_KEY: created.audit_signing_key };
  root = await mkdtemp(join(tmpdir(), 'attest-'));
  publicKey = join(root, 'operator.pem');
  const { publicKey: operator } = readSigningKey(created.audit_signing_key);
  await writeFile(publicKey, operator.export({ type: 'spki', format: 'pem' }));
  const [brand] = await stack.seed(['attested']);
  brandId = brand?.id ?? '';
  key = await stack.key();
  await commands.run(['workspace', 'create', '--name', HOSTILE, '--plan', 'free'], environment);
  await createDeliveryTables(stack.pool);
  await createAlertsTables(stack.pool);
  await stack.projected(await stack.eventStore.head());
});
afterAll(async () => {
  await rm(root, { recursive: true });
  await commands[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

/** Runs `work` in which the table was changed, and restores its rows. */
const withHistory = async (change: string, work: () => Promise<void>): Promise<void> => {
  const { pool } = stack;
  await pool.query('create table kept as select * from workspace_history.entry');
  try {
    await pool.query(change, [key.workspaceId]);
    await work();
  } finally {
    await pool.query('delete from workspace_history.entry');
    await pool.query('insert into workspace_history.entry select * from kept; drop table kept');
  }
};

describe('ops attest', () => {
  test('says unchecked while the figures were never verified', async () => {
    const outcome = await attest();
    expect(outcome).toMatchObject({ code: 3, word: 'unchecked' });
    expect(outcome.reasons).toContain('unchecked: figures were never verified');
    expect(outcome.reasons.match(/unchecked: /g)).toHaveLength(1);
  });

  test(
    'says whole when all is compared with a replay, and its report verifies offline',
    async () => {
      const file = join(root, 'whole.html');
      expect((await commands.run(['digest', 'make'], environment)).code).toBe(0);
      const outcome = await attest(['--verify', '--report', file]);
      expect(outcome, outcome.reasons).toMatchObject({ code: 0, word: 'whole' });
      const page = await readFile(file, 'utf8');
      expect(page).toContain('<h1>whole</h1>');
      expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- &quot;\\u202e');
      expect(page).not.toContain('<script>alert');
      expect(page.match(/<script/g)).toHaveLength(1);
      expect(await check(file, '--public-key', publicKey)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^unaltered: whole at \S+, signed with [0-9a-f]{16}\n$/) as string,
      });
      expect((await check(file)).code).toBe(2);
    },
    REPLAYS_LIMIT_MS,
  );

  test('names what was altered in a report', async () => {
    const page = await readFile(join(root, 'whole.html'), 'utf8');
    const file = join(root, 'altered.html');
    const json = JSON.parse(/id="attestation">(.*)<\/script>/.exec(page)?.[1] ?? '') as {
      result: Attestation;
      parts: Record<string, string>;
    };
    const faultsOf = async (altered: string): Promise<readonly string[]> => {
      await writeFile(file, altered);
      const { code, stdout } = await check(file, '--public-key', publicKey);
      expect(code).toBe(1);
      return stdout.trimEnd().split('\n');
    };
    const withResult = (result: object): string =>
      page.replace(JSON.stringify(json.result).replaceAll('<', '\\u003c'), () =>
        JSON.stringify({ ...json.result, ...result }).replaceAll('<', '\\u003c'),
      );
    const line = page.split('\n').findIndex((text) => text.startsWith('<h1>')) + 1;
    expect(await faultsOf(page.replace('<h1>whole', '<h1>broken'))).toEqual([
      `the page was altered at line ${line}`,
    ]);
    expect(await faultsOf(withResult({ attested_at: '2020-01-01T00:00:00.000Z' }))).toContain(
      'attested_at was altered',
    );
    const [servers, ...others] = json.result.checks;
    expect(await faultsOf(withResult({ checks: [{ ...servers, checked: 'all' }, ...others] }))).toContain(
      'check servers was altered',
    );
    expect(await faultsOf(withResult({ checks: others }))).toEqual(
      expect.arrayContaining(['check servers was removed', 'names of checks was altered']),
    );
    expect(await faultsOf(withResult({ histories: [] }))).toContain('histories was altered');
    expect(await faultsOf(withResult({ note: 'more' }))).toEqual([
      expect.stringContaining('the JSON of the result was altered: result'),
    ]);
    expect(await faultsOf(page.replace(json.parts['histories'] ?? '', '0'.repeat(64)))).toEqual(
      expect.arrayContaining(['the signature, or the hashes that it covers, were altered']),
    );
    expect(await faultsOf(page.replace('id="attestation"', ''))).toEqual([
      'the JSON of the result is missing',
    ]);
    const other = join(root, 'other.html');
    const { audit_signing_key } = createSigningKey();
    await attest(['--report', other], { ...environment, AUDIT_SIGNING_KEY: audit_signing_key });
    expect(await faultsOf(await readFile(other, 'utf8'))).toEqual([
      expect.stringMatching(/^the report is signed with key .*, not with your key /) as string,
    ]);
  });

  test('refuses a report without a key to sign it', async () => {
    const outcome = await attest(['--report', join(root, 'unsigned.html')], stack.environment);
    expect(outcome).toMatchObject({ code: 1, word: '' });
    expect(outcome.reasons).toContain('AUDIT_SIGNING_KEY is not set');
  });

  test('says broken, and at which entry, when a history was tampered with', async () => {
    const owner = `replace(record::text, '"owner"', '"viewer"')::text`;
    await withHistory(
      `update workspace_history.entry set record = ${owner} where workspace_id = $1 and sequence = 2`,
      async () => {
        const outcome = await attest();
        expect(outcome).toMatchObject({ code: 1, word: 'broken' });
        expect(outcome.reasons).toContain(`broken: ${key.workspaceId}: the chain is broken at entry 2`);
      },
    );
  });

  test('says broken when the last entries were removed, which leaves a whole chain', async () => {
    await withHistory(
      'delete from workspace_history.entry where workspace_id = $1 and sequence > 1',
      async () => {
        const outcome = await attest();
        expect(outcome).toMatchObject({ code: 1, word: 'broken' });
        expect(outcome.reasons).toContain(`${key.workspaceId}: entries 2 to 3 of the log are missing`);
      },
    );
    await withHistory('delete from workspace_history.entry where workspace_id = $1', async () => {
      expect((await attest()).reasons).toContain(`${key.workspaceId}: 3 events of the log are in no history`);
    });
  });

  test('says broken when a whole chain was computed again over other entries', async () => {
    await withHistory(
      `with recursive changed as (
         select workspace_id, sequence, case sequence when 2 then replace(record::text, '"owner"', '"viewer"') else record::text end as record
         from workspace_history.entry where workspace_id = $1
       ), chained as (
         select sequence, encode(sha256(convert_to(repeat('0', 64) || E'\\n' || sequence || E'\\n' || record, 'UTF8')), 'hex') as hash
         from changed where sequence = 1
         union all
         select c.sequence, encode(sha256(convert_to(b.hash || E'\\n' || c.sequence || E'\\n' || c.record, 'UTF8')), 'hex')
         from changed c join chained b on c.sequence = b.sequence + 1
       )
       update workspace_history.entry e set record = changed.record, hash = chained.hash
       from changed join chained using (sequence)
       where e.workspace_id = changed.workspace_id and e.sequence = changed.sequence`,
      async () => {
        const outcome = await attest();
        expect(outcome).toMatchObject({ code: 1, word: 'broken' });
        expect(outcome.reasons).toContain(
          `${key.workspaceId}: the entries are others than the events of the log`,
        );
      },
    );
  });

  test('says unhealthy when a server is gone, and does not say whole of what it held', async () => {
    const withoutNats = await attest([], { ...environment, NATS_URL: `nats://${NOBODY_LISTENS}` });
    expect(withoutNats).toMatchObject({ code: 2, word: 'unhealthy' });
    expect(withoutNats.reasons).toContain('unhealthy: nats cannot be reached');
    const withoutLog = await attest([], {
      ...environment,
      EVENT_STORE_URL: `esdb://${NOBODY_LISTENS}?tls=false`,
    });
    expect(withoutLog).toMatchObject({ code: 2, word: 'unhealthy' });
    expect(withoutLog.reasons).toMatch(/^log: nothing\n {2}unchecked: /m);
    expect(withoutLog.reasons).toMatch(/^read models: nothing\n {2}unchecked: /m);
    const withoutTables = await attest([], {
      ...environment,
      DATABASE_URL: `postgresql://nobody@${NOBODY_LISTENS}/none`,
    });
    expect(withoutTables).toMatchObject({ code: 2, word: 'unhealthy' });
    expect(withoutTables.reasons).toMatch(/^histories: nothing\n {2}unchecked: /m);
    expect(withoutTables.reasons).toMatch(/^deliveries: nothing\n {2}unchecked: /m);
  });

  test('is answered over HTTP, with the figures as they were last verified', async () => {
    expect(await attestOver(stack.eventStore)).toMatchObject({ word: 'whole', is_replayed: false });
  });

  test('says broken when an event is missing from a stream of the log', async () => {
    const gap = `apiKeys-${key.workspaceId}`;
    const { checks } = await attestOver(without(stack.eventStore, gap, 0n));
    const reasons = checks.flatMap(({ findings }) =>
      findings.map(({ word, reason }) => `${word}: ${reason}`),
    );
    expect(reasons).toContain(`broken: ${key.workspaceId}: entries 3 to 3 are not in the log`);
    const ofBrand = await attestOver(without(stack.eventStore, `adLibrary-${brandId}`, 1n));
    expect(ofBrand.word).toBe('broken');
    expect(ofBrand.checks[1]?.findings).toEqual([
      { word: 'broken', reason: `adLibrary-${brandId} has revision 2 after 0: events are missing` },
    ]);
  });

  test('says unhealthy with a delivery that is overdue', async () => {
    await stack.pool.query(
      `insert into delivery.due (delivery_id, workspace_id, alert_id, endpoint, attempts, attempts_before, next_attempt_at)
       values (gen_random_uuid(), $1, gen_random_uuid(), 'webhook:one', 1, 0, now() - interval '10 minutes')`,
      [key.workspaceId],
    );
    const outcome = await attest();
    expect(outcome).toMatchObject({ code: 2, word: 'unhealthy' });
    expect(outcome.reasons).toContain('unhealthy: 1 deliveries have been due for more than 300 seconds');
    await stack.pool.query('delete from delivery.due');
  });

  test('says unhealthy with a parked event', async () => {
    const data = { brand_id: 'no uuid' };
    const event = { type: 'BrandRegistered', data };
    const metadata = {
      $correlationId: 'parked',
      $causationId: 'parked',
      request_id: 'parked',
      actor: { kind: 'service', id: 'tests' },
    } as const;
    const { position } = await stack.eventStore.append(
      brandStream('parked'),
      -1n,
      [event],
      metadata,
      'parked',
    );
    await stack.projected(position);
    const outcome = await attest();
    expect(outcome).toMatchObject({ code: 2, word: 'unhealthy' });
    expect(outcome.reasons).toMatch(/unhealthy: 1 events of brands are parked/);
  });

  test('says unhealthy when the projector has stopped', async () => {
    await stack.stopProjector();
    const outcome = await attest();
    expect(outcome).toMatchObject({ code: 2, word: 'unhealthy' });
    expect(outcome.reasons).toContain('unhealthy: no projector runs radar');
  });
});
