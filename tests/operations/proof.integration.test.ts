import { randomBytes, randomUUID, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CHAIN_START, chainHash, digestHash, digestSigningText, eventHash } from '#contracts/audit/chain.ts';
import type { LogDigest } from '#contracts/audit/log-digest.ts';
import { LOG_DIGEST_STREAM } from '#contracts/events/log-digest.ts';
import { eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import type {
  DeliveryStatement,
  FigureStatement,
  ProofEvent,
  ProofHeader,
  ProofStatement,
  RadarStatement,
} from '#contracts/audit/proof.ts';
import { workspaceStream } from '#contracts/events/workspace/workspace.ts';
import { createSigningKey, readPublicKey, readSigningKey } from '#application/audit/signing-key.ts';
import { checkProof } from '#application/audit/verify-proof.ts';
import { publishEvents } from '#application/delivery-outbox/journal.ts';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { issueKey } from '#services/ops/workspaces.ts';
import { on } from '#tests/dsl/api.ts';
import { openHostedCommands } from '../ops/fixtures/hosted-commands.ts';
import { FEATURES } from '../reference/features.ts';
import { place } from '../reference/service/placement.ts';
import { at, dateOf, scan, shown, worldWith } from '../reference/sketch.ts';
import { worldArbitrary } from '../reference/worlds.ts';
import { untilPassed } from '../stack/read-models.ts';
import { HOOK } from './fixtures/alerting.ts';
import { outboxOf } from './fixtures/outbox.ts';
import { matched, startAlerts } from './fixtures/running-alerts.ts';
import { type ApiStack, type Key, openApiStack } from './fixtures/stack.ts';

/** Each alteration of a bundle is found. PROOF_MUTATIONS=10000 is the long form. */
const { PROOF_MUTATIONS, PROOF_WORLDS, PROOF_SEED } = readSettings(
  z.object({
    PROOF_MUTATIONS: z.coerce.number().int().positive().default(1_000),
    PROOF_WORLDS: z.coerce.number().int().positive().default(2),
    PROOF_SEED: z.coerce.number().int().default(20_261_129),
  }),
);
const LIMIT_MS = 120_000 + 20_000 * PROOF_WORLDS;

type Proof<S extends ProofStatement = FigureStatement> = {
  readonly statement: S;
  readonly events_counted: number;
  readonly events_not_attested: number;
  readonly digest: LogDigest | null;
  readonly bundle_url: string;
};

const commands = openHostedCommands();
const { audit_signing_key, public_key } = createSigningKey();
let stack: ApiStack;
let app: FastifyInstance;
let folder: string;
let keyFile: string;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  resources.use(commands);
  app = await stack.api({ requestsPerMinute: 1_000_000 });
  folder = await mkdtemp(join(tmpdir(), 'proof-'));
  resources.defer(() => rm(folder, { recursive: true }));
  keyFile = join(folder, 'public-key.pem');
  await writeFile(keyFile, readPublicKey(public_key).export({ type: 'spki', format: 'pem' }));
}, LIMIT_MS);
afterAll(() => resources.disposeAsync());

const ops = (...words: readonly string[]) =>
  commands.run(['--json', ...words], { ...stack.environment, AUDIT_SIGNING_KEY: audit_signing_key });
const signDigest = async (): Promise<LogDigest> => {
  const { stdout, stderr, code } = await ops('digest', 'make');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as LogDigest;
};

const readProof = async <P>(path: string, key: Key): Promise<P> => {
  const { status, data, error } = await on(app).get(path, { key });
  expect(status, JSON.stringify(error)).toBe(200);
  const proof: unknown = data;
  return proof as P;
};
const proofOf = (brandId: string, query: string, key: Key): Promise<Proof> =>
  readProof(`/v1/brands/${brandId}/proof?${query}`, key);

const download = async ({ bundle_url }: Pick<Proof, 'bundle_url'>): Promise<string> => {
  const { pathname, search } = new URL(bundle_url);
  const reply = await app.inject({ url: `${pathname}${search}` });
  expect(reply.statusCode).toBe(200);
  return reply.body;
};

/** Exit code for a bundle without a fault that is not proved. */
const EXIT_UNCHECKED = 2;

type Verified = {
  readonly faults: readonly string[];
  readonly recomputed: unknown;
  readonly absent: readonly string[];
  readonly counted: number;
  readonly notAttested: number;
};

/** Runs `ops proof verify` with the operator's key. */
const verify = async (bundle: string): Promise<Verified & { readonly code: number }> => {
  const file = join(folder, `${randomUUID()}.ndjson`);
  await writeFile(file, bundle);
  const { stdout, stderr, code } = await ops('proof', 'verify', file, '--public-key', keyFile);
  if (stdout === '') throw new Error(stderr);
  return { ...(JSON.parse(stdout) as Verified), code };
};

const linesOf = (bundle: string): readonly string[] => bundle.trimEnd().split('\n');
const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

const openStackIntake = () => {
  const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
  return openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
};

/** A workspace with a new ad in its radar, and an alert about it. */
type Told = {
  readonly key: Key;
  readonly radar: string;
  readonly deliveries: string;
  readonly itemId: string;
  readonly deliveryId: string;
};

/** Observes a new ad of a tracked brand, and lets the process of alerts tell of it. */
const tellOfAd = async (number: number, path = 'boots'): Promise<Told> => {
  const key = await stack.key();
  const workspace = `/v1/workspaces/${key.workspaceId}`;
  await using intake = await openStackIntake();
  const news = [shown(), shown('a2', { startedOn: dateOf(3), title: 'Boots', link: `b1.example/${path}` })];
  const world = worldWith(scan('s1', at(1), [shown()]), scan('s2', at(3), news), scan('s3', at(5), news));
  const { brandIdOf, messagesOf } = place(world, number);
  const [first, ...later] = world.observations;
  for (const message of first === undefined ? [] : messagesOf(first)) await intake.submit(message);
  await untilPassed(stack.pool, await stack.eventStore.head());
  const brand_id = brandIdOf('b1.example');
  await on(app).post(`${workspace}/tracked-brands`, { key, body: { brand_id } });
  const body = { name: 'Launches', trigger: 'new_ads', brand_ids: [brand_id], webhook_url: HOOK };
  expect((await on(app).post(`${workspace}/alerts`, { key, body })).status).toBe(201);
  {
    await using _ = await startAlerts(stack);
    for (const message of later.flatMap(messagesOf)) await intake.submit(message);
    await matched(stack);
  }
  while ((await publishEvents(stack.pool, stack.eventStore)).entries > 0);
  await untilPassed(stack.pool, await stack.eventStore.head());
  await stack.projected(await stack.eventStore.head());
  const idIn = async (list: string): Promise<string> => {
    const { data } = await on(app).get(`${workspace}/${list}`, { key });
    return (data as unknown as readonly { id: string }[])[0]?.id ?? '';
  };
  const [itemId, deliveryId] = [await idIn('radar?days=365'), await idIn('alert-deliveries')];
  return {
    key,
    itemId,
    deliveryId,
    radar: `${workspace}/radar/${itemId}/proof`,
    deliveries: `${workspace}/alert-deliveries/${deliveryId}/proof`,
  };
};

/** Observes a world of one brand with three scans, and returns the brand. */
const THREE_SCANS = [scan('s1', at(1), [shown()]), scan('s2', at(3), [shown()]), scan('s3', at(5), [])];
const observeBrand = async (number: number, scans = THREE_SCANS): Promise<string> => {
  await using intake = await openStackIntake();
  const world = worldWith(...scans);
  const { brandIdOf, messagesOf } = place(world, number);
  for (const message of world.observations.flatMap(messagesOf)) await intake.submit(message);
  await untilPassed(stack.pool, await stack.eventStore.head());
  return brandIdOf('b1.example');
};

describe('getBrandProof 200', () => {
  it(
    'has the figure of the API then, and a bundle from which it is computed again, in generated worlds',
    async () => {
      const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
      await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
      const worlds = fc.sample(worldArbitrary(FEATURES), { numRuns: PROOF_WORLDS, seed: PROOF_SEED });
      for (const [index, world] of worlds.entries()) {
        const key = await stack.key();
        const { brandIdOf, messagesOf } = place(world, index + 500);
        const messages = world.observations.flatMap(messagesOf);
        const half = Math.ceil(messages.length / 2);
        for (const message of messages.slice(0, half)) await intake.submit(message);
        await untilPassed(stack.pool, await stack.eventStore.head());
        const moment = new Date().toISOString();
        const ids = world.brands.map(brandIdOf);
        const shownThen = await Promise.all(
          ids.map(async (id) => (await on(app).get(`/v1/brands/${id}`, { key })).data),
        );
        await pause(2);
        for (const message of messages.slice(half)) await intake.submit(message);
        await signDigest();
        for (const [number, id] of ids.entries()) {
          const figures = shownThen[number] as { active_ads?: number; total_ads?: number } | undefined;
          if (figures?.active_ads === undefined) continue;
          for (const figure of ['active_ads', 'total_ads'] as const) {
            const proof = await proofOf(id, `figure=${figure}&as_of=${moment}`, key);
            expect(proof.statement.value, `${figure} of world ${index}`).toBe(figures[figure]);
            expect(await verify(await download(proof))).toMatchObject({
              code: 0,
              faults: [],
              recomputed: proof.statement.value,
              counted: proof.events_counted,
              notAttested: 0,
            });
          }
        }
      }
    },
    LIMIT_MS,
  );

  it('sums the reliable days of a window as daily activity shows them', async () => {
    const brandId = await observeBrand(600);
    const key = await stack.key();
    const { data } = await on(app).get(`/v1/brands/${brandId}/daily-activity`, { key });
    const days = data as unknown as readonly { date: string; retired_ads: number; reliable: boolean }[];
    const [from, to] = [days.at(0)?.date, days.at(-1)?.date];
    const expected = days
      .filter(({ reliable }) => reliable)
      .reduce((total, { retired_ads }) => total + retired_ads, 0);
    const proof = await proofOf(brandId, `figure=retired_ads&from=${from}&to=${to}`, key);
    expect(proof.statement).toMatchObject({ figure: 'retired_ads', from, to, value: expected });
    const bundle = await download(proof);
    expect(await verify(bundle)).toMatchObject({ recomputed: expected });
  });

  it('says how many events no digest attests yet', async () => {
    await observeBrand(603);
    await signDigest();
    const brandId = await observeBrand(601);
    const key = await stack.key();
    const newer = await proofOf(brandId, 'figure=total_ads', key);
    expect(newer.events_not_attested).toBe(newer.events_counted);
    expect(await verify(await download(newer))).toMatchObject({
      code: EXIT_UNCHECKED,
      notAttested: newer.events_not_attested,
    });
    const { sequence, recorded_until } = await signDigest();
    const proof = await proofOf(brandId, `figure=total_ads&as_of=${recorded_until}`, key);
    expect(proof).toMatchObject({ events_not_attested: 0, digest: { sequence } });
    expect(await verify(await download(proof))).toMatchObject({ code: 0, attested_until: recorded_until });
  });

  it('is not called proved after a digest, also when the events since then were left out', async () => {
    const brandId = await observeBrand(604, [scan('s1', at(1), [shown()])]);
    const { recorded_until } = await signDigest();
    await observeBrand(604, [scan('s1', at(1), [shown()]), scan('s2', at(3), [shown(), shown('a2')])]);
    const key = await stack.key();
    const bundle = await download(await proofOf(brandId, 'figure=total_ads', key));
    const events = linesOf(bundle)
      .slice(1, -1)
      .filter((line) => (JSON.parse(line) as ProofEvent).recorded_at <= recorded_until);
    const revisionIn = (stream: string) =>
      String(events.filter((line) => (JSON.parse(line) as ProofEvent).stream === stream).length - 1);
    const forged = withStatement(
      joined([linesOf(bundle)[0] ?? '', ...events, JSON.stringify({ kind: 'end', events: events.length })]),
      (statement) => ({
        ...statement,
        value: 1,
        streams: (statement['streams'] as { stream: string }[]).map(({ stream }) => ({
          stream,
          revision: revisionIn(stream),
        })),
      }),
    );
    expect(await verify(forged)).toMatchObject({
      code: EXIT_UNCHECKED,
      faults: [],
      notAttested: 0,
      attested_until: recorded_until,
    });
  });

  it('names actors and requests of no workspace', async () => {
    const brandId = await observeBrand(602);
    const key = await stack.key();
    const bundle = await download(await proofOf(brandId, 'figure=total_ads', key));
    expect(bundle).not.toContain(key.workspaceId);
    expect(bundle).not.toMatch(/correlationId|request_id|"actor"/);
  });
});

const withStatement = (bundle: string, change: (statement: Record<string, unknown>) => object): string => {
  const [first = '', ...rest] = linesOf(bundle);
  const header = JSON.parse(first) as ProofHeader;
  return joined([JSON.stringify({ ...header, statement: change(header.statement) }), ...rest]);
};

describe('getRadarItemProof 200', () => {
  it('has the item of the radar, and a bundle from which it is computed again', async () => {
    const { key, radar, itemId } = await tellOfAd(630);
    const { recorded_until } = await signDigest();
    const proof = await readProof<Proof<RadarStatement>>(`${radar}?as_of=${recorded_until}`, key);
    const { data } = await on(app).get(`/v1/workspaces/${key.workspaceId}/radar?days=365`, { key });
    expect(proof.statement.item).toEqual((data as unknown as readonly { id: string }[])[0]);
    const bundle = await download(proof);
    expect(await verify(bundle)).toMatchObject({
      code: 0,
      faults: [],
      absent: [],
      recomputed: itemId,
      counted: proof.events_counted,
      notAttested: 0,
    });
    expect(bundle).not.toContain(key.workspaceId);
  });

  it('has no link that servers would not take, because the addresses in the item are too long', async () => {
    const { key, radar } = await tellOfAd(690, randomBytes(5_800).toString('base64url'));
    expect(await on(app).get(radar, { key })).toMatchObject({
      status: 400,
      error: { details: [{ code: 'too_big' }] },
    });
  });

  it('states what the events do not, and is refused', async () => {
    const { key, radar } = await tellOfAd(631);
    await signDigest();
    const bundle = await download(await readProof<Proof>(radar, key));
    const forged = withStatement(bundle, ({ item, ...statement }) => ({
      ...statement,
      item: { ...(item as RadarStatement['item']), destination_url: 'https://forged.example/' },
    }));
    const { code, faults } = await verify(forged);
    expect([code, faults]).toEqual([
      1,
      [expect.stringMatching(/^The item has as destination_url .*, and the proof states "https:..forged/)],
    ]);
  });

  it('is not taken for whole without a stream that its events name', async () => {
    const { key, radar } = await tellOfAd(632);
    await signDigest();
    const bundle = await download(await readProof<Proof>(radar, key));
    const [first = '', ...rest] = linesOf(bundle);
    const header = JSON.parse(first) as ProofHeader;
    const isLeft = ({ stream }: { stream: string }): boolean => !stream.startsWith('brand-');
    const kept = rest.slice(0, -1).filter((line) => isLeft(JSON.parse(line) as ProofEvent));
    const { statement } = header;
    const cut = joined([
      JSON.stringify({
        ...header,
        statement: { ...statement, streams: statement.streams.filter(isLeft) },
        heads: header.heads.filter(isLeft),
      }),
      ...kept,
      JSON.stringify({ kind: 'end', events: kept.length }),
    ]);
    expect((await verify(cut)).code).not.toBe(0);
  });
});

describe('getDeliveryProof 200', () => {
  type Reasons = Proof<DeliveryStatement> & {
    readonly reasons: readonly { readonly item_id: string; readonly reason: string }[];
    readonly faults: readonly string[];
  };

  it('says which event met which condition of the rule, and has a bundle that says the same', async () => {
    const { key, deliveries, itemId } = await tellOfAd(640);
    await stack.key();
    const { key: other } = await tellOfAd(641);
    await signDigest();
    const proof = await readProof<Reasons>(deliveries, key);
    expect(proof.faults).toEqual([]);
    expect(proof.reasons).toEqual([
      {
        item_id: itemId,
        reason: expect.stringMatching(/“Boots”.*“Launches” tells of ads that started.*AdStarted/),
      },
    ]);
    const bundle = await download(proof);
    expect(await verify(bundle)).toMatchObject({
      code: 0,
      faults: [],
      absent: [],
      recomputed: proof.reasons,
      counted: proof.events_counted,
    });
    expect(bundle).not.toContain(other.workspaceId);
    expect(bundle).not.toMatch(/correlationId|request_id|"actor"/);
  });

  it('names a delivery that the events do not give', async () => {
    const { key } = await tellOfAd(642);
    const workspace = `/v1/workspaces/${key.workspaceId}`;
    const { data } = await on(app).get(`${workspace}/alerts`, { key });
    const [rule] = data as unknown as readonly { id: string }[];
    const { queue, publish } = outboxOf(stack);
    const [deliveryId] = await queue(key, rule ?? { id: '' }, [new Date().toISOString()]);
    await publish();
    await signDigest();
    const proof = await readProof<Reasons>(`${workspace}/alert-deliveries/${deliveryId}/proof`, key);
    expect(proof.faults.length).toBeGreaterThan(0);
    expect(await verify(await download(proof))).toMatchObject({ code: 1, faults: proof.faults });
  });
});

const expectUnknownElsewhere = async (path: string, { key }: Told): Promise<void> => {
  const other = await stack.key();
  const unknown = path.replace(/[^/]+(?=\/proof$)/, randomUUID());
  const ofOther = path.replace(key.workspaceId, other.workspaceId);
  const replies = [
    on(app).get(path, { key: other }),
    on(app).get(ofOther, { key: other }),
    on(app).get(unknown, { key }),
  ];
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([404, 404, 404]);
};

describe('getRadarItemProof 404', () => {
  it('is the reply for another workspace, and for an unknown id', async () => {
    const told = await tellOfAd(650);
    await expectUnknownElsewhere(told.radar, told);
  });
});

describe('getDeliveryProof 403', () => {
  it('is the reply for a key that may not read tracked brands', async () => {
    const { key, deliveries } = await tellOfAd(652);
    const { workspaceId, memberId } = key;
    const operator = { ...stack, actor: { kind: 'service', id: 'tests' } } as const;
    const issued = await issueKey(operator, workspaceId, memberId, 'alerts only', ['alerts:read']);
    expect(await on(app).get(deliveries, { key: { ...key, text: issued.api_key } })).toMatchObject({
      status: 403,
      error: { message: expect.stringContaining('tracking:read') as string },
    });
  });
});

describe('getDeliveryProof 404', () => {
  it('is the reply for another workspace, and for an unknown id', async () => {
    const told = await tellOfAd(651);
    await expectUnknownElsewhere(told.deliveries, told);
  });
});

type Parsed = { readonly header: ProofHeader; readonly events: readonly ProofEvent[] };

const parse = (bundle: string): Parsed => {
  const [first = '', ...rest] = linesOf(bundle);
  return {
    header: JSON.parse(first) as ProofHeader,
    events: rest.slice(0, -1).map((line) => JSON.parse(line) as ProofEvent),
  };
};

/** Makes the chains of hashes again, as who forges events can. */
const written = ({ header, events }: Parsed): string => {
  const heads = new Map<string, string>();
  const chained = events.map((event) => {
    const head = chainHash(heads.get(event.stream) ?? CHAIN_START, eventHash(event));
    heads.set(event.stream, head);
    return { ...event, head };
  });
  const lines = [header, ...chained, { kind: 'end', events: events.length }];
  return joined(lines.map((line) => JSON.stringify(line)));
};

const withoutStreams = (
  { header, events }: Parsed,
  isLeft: (one: { stream: string }) => boolean,
): Parsed => ({
  header: {
    ...header,
    statement: { ...header.statement, streams: header.statement.streams.filter(isLeft) },
    heads: header.heads.filter(isLeft),
  },
  events: events.filter(isLeft),
});

describe('a bundle with forged events, in the name of a genuine digest', () => {
  let genuine: Parsed;
  beforeAll(async () => {
    const ads = [shown(), shown('a2'), shown('a3')];
    const brandId = await observeBrand(620, [scan('s1', at(1), [shown()]), scan('s2', at(3), ads)]);
    const { recorded_until } = await signDigest();
    const key = await stack.key();
    const bundle = await download(await proofOf(brandId, `figure=total_ads&as_of=${recorded_until}`, key));
    expect((await verify(bundle)).code).toBe(0);
    genuine = parse(bundle);
  }, LIMIT_MS);

  const lastScan = (): ProofEvent =>
    genuine.events.findLast(({ stream }) => stream.startsWith('adLibrary-')) as ProofEvent;
  const fourAds = (data: string): string => data.replace('"total":3', '"total":4');
  const stating = ({ header, events }: Parsed, value: number): Parsed => ({
    header: { ...header, statement: { ...header.statement, value } as FigureStatement },
    events,
  });
  const altered = (change: Partial<ProofEvent> = {}): Parsed => {
    const last = lastScan();
    const forged = { ...last, data: fourAds(last.data), ...change };
    return stating({ ...genuine, events: genuine.events.map((one) => (one === last ? forged : one)) }, 4);
  };

  it('is found where an event was altered', async () => {
    expect((await verify(written(altered()))).code).toBe(1);
  });

  it('is found where the last revision is written as another text', async () => {
    expect((await verify(written(altered({ revision: `0${lastScan().revision}` })))).code).toBe(1);
  });

  it('is not called proved without the path of their stream', async () => {
    const { header, events } = altered();
    const heads = header.heads.filter(({ stream }) => stream !== lastScan().stream);
    expect(await verify(written({ header: { ...header, heads }, events }))).toMatchObject({
      code: EXIT_UNCHECKED,
    });
  });

  it('is not called proved with an event behind the path of its stream', async () => {
    const last = lastScan();
    const revision = String(Number(last.revision) + 1);
    const invented = {
      ...last,
      revision,
      id: randomUUID(),
      data: fourAds(last.data.replace('"00000003', '"00000004')),
    };
    const streams = genuine.header.statement.streams.map((one) =>
      one.stream === last.stream ? { ...one, revision } : one,
    );
    const { header } = stating(genuine, 4);
    const statement = { ...header.statement, streams };
    const events = genuine.events.flatMap((one) => (one === last ? [one, invented] : [one]));
    expect((await verify(written({ header: { ...header, statement }, events }))).code).not.toBe(0);
  });

  it('is not called proved with one later event in the place of a stream', async () => {
    const { stream } = lastScan();
    const { header, events } = stating(genuine, 0);
    const later = { ...lastScan(), revision: '0', recorded_at: '2099-01-01T00:00:00.000Z' };
    const streams = header.statement.streams.map((one) =>
      one.stream === stream ? { stream, revision: '0' } : one,
    );
    const forged = {
      header: {
        ...header,
        statement: { ...header.statement, streams },
        heads: header.heads.filter((one) => one.stream !== stream),
      },
      events: [...events.filter((one) => one.stream !== stream), later],
    };
    const order = ({ stream: name }: ProofEvent) => streams.findIndex((one) => one.stream === name);
    forged.events.sort((one, other) => order(one) - order(other));
    expect(await verify(written(forged))).toMatchObject({ code: EXIT_UNCHECKED, faults: [] });
  });

  it('is found where a stream stands twice in the statement, or its moment is written otherwise', async () => {
    const { header, events } = genuine;
    const { statement } = header;
    for (const change of [
      { streams: [...statement.streams, ...statement.streams.slice(0, 1)] },
      { as_of: statement.as_of.replace('Z', '000Z') },
    ]) {
      const changed = { ...header, statement: { ...statement, ...change } as FigureStatement };
      expect((await verify(written({ header: changed, events }))).code).toBe(1);
    }
  });

  it.each([
    ['the end of a window', { to: '2020-01-31' }],
    ['a whole window', { from: '2020-01-01', to: '2020-01-31' }],
  ])('is found where the statement has %s that its figure has not', async (_, window) => {
    const { header, events } = genuine;
    const statement = { ...header.statement, ...window } as FigureStatement;
    expect((await verify(written({ header: { ...header, statement }, events }))).code).toBe(1);
  });

  it('is found where a key stands twice in the statement', async () => {
    expect((await verify(written(genuine).replace('"value":3', '"value":9,"value":3'))).code).toBe(1);
  });

  it('is found where it has the streams of another brand, too', async () => {
    const brandId = await observeBrand(621);
    const { recorded_until } = await signDigest();
    const key = await stack.key();
    const of = async (id: string) =>
      parse(await download(await proofOf(id, `figure=total_ads&as_of=${recorded_until}`, key)));
    const own = await of((genuine.header.statement as FigureStatement).brand_id);
    const other = await of(brandId);
    const streams = [...own.header.statement.streams, ...other.header.statement.streams];
    const header = {
      ...own.header,
      statement: { ...own.header.statement, streams },
      heads: [...own.header.heads, ...other.header.heads],
    };
    const { code, faults } = await verify(written({ header, events: [...own.events, ...other.events] }));
    expect([code, faults.length]).toEqual([1, 2]);
  });
});

describe('a bundle', () => {
  it('of new ads is found where its window is open or reversed', async () => {
    const brandId = await observeBrand(622);
    const { recorded_until } = await signDigest();
    const query = `figure=new_ads&from=2026-03-01&to=2026-03-31&as_of=${recorded_until}`;
    const { header, events } = parse(await download(await proofOf(brandId, query, await stack.key())));
    for (const window of [{ to: null }, { from: null, to: null }, { from: '2026-03-31', to: '2026-03-01' }]) {
      const statement = { ...header.statement, ...window, value: 0 } as FigureStatement;
      expect((await verify(written({ header: { ...header, statement }, events }))).code).toBe(1);
    }
  });

  it('of a delivery is not taken for whole without what its workspace tracked', async () => {
    const { key, deliveries } = await tellOfAd(643);
    await signDigest();
    const whole = parse(await download(await readProof<Proof>(deliveries, key)));
    const tracked = `tracking-${key.workspaceId}`;
    const { code, absent } = await verify(written(withoutStreams(whole, ({ stream }) => stream !== tracked)));
    expect([code, absent]).toEqual([EXIT_UNCHECKED, [tracked]]);
  });

  it('of texts with line separators is whole', async () => {
    const brandId = await observeBrand(623, [
      scan('s1', at(1), [shown('a1', { title: 'Boots\u2028and more' })]),
    ]);
    const { recorded_until } = await signDigest();
    const key = await stack.key();
    const bundle = await download(await proofOf(brandId, `figure=total_ads&as_of=${recorded_until}`, key));
    expect(bundle).toContain('\u2028');
    expect(await verify(bundle)).toMatchObject({ code: 0, faults: [] });
  });

  /** Alters one place of the bundle and says how. */
  const mutations = (lines: readonly string[]): fc.Arbitrary<readonly [string, readonly string[]]> => {
    const event = fc.integer({ min: 1, max: lines.length - 2 });
    const two = fc.tuple(event, event).filter(([one, other]) => one !== other);
    const without = (line: number) => lines.toSpliced(line, 1);
    const alteredAt = (line: number, digit: number): readonly string[] => {
      const text = lines[line] ?? '';
      // Another digit or letter in the place of one keeps the line well-formed in most cases.
      const places = [...text.matchAll(/[0-9a-z]/g)].map(({ index }) => index);
      const index = places[digit % places.length] ?? 0;
      const other = text[index] === '7' ? '8' : '7';
      return lines.with(line, `${text.slice(0, index)}${other}${text.slice(index + 1)}`);
    };
    return fc.oneof(
      event.map((line) => ['drop', without(line)] as const),
      event.map((line) => ['repeat', lines.toSpliced(line, 0, lines[line] ?? '')] as const),
      two.map(
        ([one, other]) =>
          ['swap', lines.with(one, lines[other] ?? '').with(other, lines[one] ?? '')] as const,
      ),
      fc.tuple(event, fc.nat()).map(([line, digit]) => ['alter', alteredAt(line, digit)] as const),
      fc.integer({ min: 0, max: lines.length - 1 }).map((line) => ['cut', lines.slice(0, line)] as const),
    );
  };

  const survivorsOf = async (bundle: string): Promise<readonly string[]> => {
    const lines = linesOf(bundle);
    expect((await checkProof(lines)).faults).toEqual([]);
    const survivors: string[] = [];
    for (const [kind, mutated] of fc.sample(mutations(lines), {
      numRuns: PROOF_MUTATIONS,
      seed: PROOF_SEED,
    })) {
      const { faults } = await checkProof(mutated);
      if (faults.length === 0) survivors.push(`${kind}: ${joined(mutated)}`);
    }
    return survivors;
  };

  it('that was cut, altered, swapped or repeated anywhere is found', async () => {
    const brandId = await observeBrand(610);
    await signDigest();
    const bundle = await download(await proofOf(brandId, 'figure=active_ads', await stack.key()));
    expect(await survivorsOf(bundle)).toEqual([]);
    const { key, radar, deliveries } = await tellOfAd(614);
    await signDigest();
    for (const path of [radar, deliveries])
      expect(await survivorsOf(await download(await readProof<Proof>(path, key)))).toEqual([]);
  });

  it('with events left out, and all its hashes made again, is not that of the digest', async () => {
    const brandId = await observeBrand(611);
    await signDigest();
    const bundle = await download(await proofOf(brandId, 'figure=total_ads', await stack.key()));
    const [first = '', ...rest] = linesOf(bundle);
    const header = JSON.parse(first) as ProofHeader;
    const events = rest.slice(0, -1).map((line) => JSON.parse(line) as ProofEvent);
    const left = events.findLast(({ stream }) => stream.startsWith('adLibrary-')) as ProofEvent;
    const kept = events.filter((event) => event !== left);
    // The forger says that the stream ends one event earlier, in the statement and in its leaf.
    const earlier = String(Number(left.revision) - 1);
    const streams = header.statement.streams.map((one) =>
      one.stream === left.stream ? { ...one, revision: earlier } : one,
    );
    const head = kept.findLast(({ stream }) => stream === left.stream)?.head ?? '';
    const heads = header.heads.map((one) =>
      one.stream === left.stream ? { ...one, revision: earlier, head } : one,
    );
    const forged = joined([
      JSON.stringify({ ...header, statement: { ...header.statement, streams }, heads }),
      ...kept.map((event) => JSON.stringify(event)),
      JSON.stringify({ kind: 'end', events: kept.length }),
    ]);
    const { faults, code } = await verify(forged);
    expect(code).toBe(1);
    expect(faults).toEqual([
      `${left.stream}: its path does not lead to the root of digest ${header.digest?.sequence}.`,
    ]);
  });

  it('that states another figure, or is signed by another key, is refused', async () => {
    const brandId = await observeBrand(612);
    await signDigest();
    const bundle = await download(await proofOf(brandId, 'figure=total_ads', await stack.key()));
    const stated = bundle.replace('"value":1', '"value":2');
    expect(await verify(stated)).toMatchObject({
      code: 1,
      faults: ['The figure is 1, and the proof states 2.'],
    });
    const file = join(folder, 'other-key.ndjson');
    await writeFile(file, bundle);
    const otherKey = join(folder, 'other-key.pem');
    await writeFile(otherKey, createSigningKey().public_key);
    const { stdout, code } = await ops('proof', 'verify', file, '--public-key', otherKey);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { faults: [expect.stringContaining('is signed with another key')] },
    ]);
    const unchecked = await ops('proof', 'verify', file);
    expect(unchecked.code).toBe(2);
  });

  it('that counts fewer events than were there is refused', async () => {
    const brandId = await observeBrand(616);
    await signDigest();
    const bundle = await download(await proofOf(brandId, 'figure=total_ads', await stack.key()));
    const fewer = bundle
      .replace(/("stream":"adLibrary-[^"]*","revision":")\d+/, '$10')
      .replace('"value":1', '"value":0');
    const { code, faults } = await verify(fewer);
    expect(code).toBe(1);
    expect(faults).toContainEqual(
      expect.stringMatching(/was recorded by the moment, and the statement leaves it out/),
    );
  });

  it('has a link that cannot be altered', async () => {
    const brandId = await observeBrand(613);
    const { bundle_url } = await proofOf(brandId, 'figure=total_ads', await stack.key());
    const { pathname, searchParams } = new URL(bundle_url);
    const text = Buffer.from(searchParams.get('statement') ?? '', 'base64url').toString('utf8');
    const stream = workspaceStream('wsp_of_another');
    const forged = text.replace(`brand-${brandId}`, stream);
    searchParams.set('statement', Buffer.from(forged, 'utf8').toString('base64url'));
    const replies = [`${pathname}?${searchParams.toString()}`, pathname].map((url) => app.inject({ url }));
    expect((await Promise.all(replies)).map(({ statusCode }) => statusCode)).toEqual([403, 403]);
  });
});

describe('digests of the log', () => {
  const published = async (): Promise<readonly LogDigest[]> => {
    // A process of its own has nothing in its cache.
    const reply = await (await stack.api()).inject({ url: '/.well-known/log-digests' });
    return reply.json<{ digests: LogDigest[] }>().digests;
  };

  it('are published without a key, each with the hash of the one before', async () => {
    const made = [await signDigest(), await signDigest()];
    expect((await published()).slice(0, 2)).toEqual(made.toReversed());
  });

  it('are followed again from the log after their tables were dropped', async () => {
    const last = await signDigest();
    await stack.pool.query('drop schema log_digest cascade');
    expect(await published()).toEqual([]);
    const next = await signDigest();
    expect(next.sequence).toBe(last.sequence + 1);
    expect((await published()).find(({ sequence }) => sequence === last.sequence)).toEqual(last);
  });

  it('tell when the tables are not those of the log', async () => {
    await signDigest();
    await stack.pool.query(
      `update log_digest.stream set head = repeat('0', 64) where stream like 'adLibrary-%'`,
    );
    const verified = await ops('digest', 'verify');
    expect(verified.code, verified.stderr).toBe(0);
    const { rows } = await stack.pool.query(`select from log_digest.stream where head = repeat('0', 64)`);
    expect(rows).toEqual([]);
  });

  it('are made from the beginning when the tables are of another copy of the log', async () => {
    for (const position of ['0', '9000000000000000000']) {
      const last = await signDigest();
      await stack.pool.query('update log_digest.digest set position = $1', [position]);
      expect((await signDigest()).sequence).toBe(last.sequence + 1);
      expect((await ops('digest', 'verify')).code).toBe(0);
    }
  });
});

describe('a log whose digest was exchanged', () => {
  it('is refused, also when its own key signed the other digest', async () => {
    await using other = await openApiStack();
    await other.seed(['signed']);
    const environment = { ...other.environment, AUDIT_SIGNING_KEY: audit_signing_key };
    const { stdout } = await commands.run(['--json', 'digest', 'make'], environment);
    const signed = JSON.parse(stdout) as LogDigest;
    const { privateKey } = readSigningKey(audit_signing_key);
    const exchanged: LogDigest = {
      ...signed,
      sequence: 2,
      previous_digest: digestHash(signed),
      events: signed.events + 1,
    };
    const text = Buffer.from(digestSigningText(exchanged), 'utf8');
    const signature = sign(null, text, privateKey).toString('base64');
    const appended = async (revision: bigint, data: LogDigest): Promise<unknown> =>
      other.eventStore.append(
        LOG_DIGEST_STREAM,
        revision,
        [{ type: 'LogDigestSigned', data }],
        eventMetadata({ actor: serviceActor('forger'), correlationId: 'forged', causationId: 'forged' }),
        randomUUID(),
      );
    await appended(0n, { ...exchanged, signature });
    for (const command of ['verify', 'make']) {
      const reply = await commands.run(['digest', command], environment);
      expect([reply.code, reply.stderr.trim()]).toEqual([
        1,
        'The log is not the one that was signed: digest 2 has another root.',
      ]);
    }
  });
});

describe('getBrandProof 400', () => {
  it.each([
    ['without a figure', '', 'figure'],
    ['for an unknown figure', 'figure=spend', 'figure'],
    ['for a window without its end', 'figure=new_ads&from=2026-01-01', 'to'],
    ['for a reversed window', 'figure=new_ads&from=2026-01-02&to=2026-01-01', 'from'],
    ['for days of a figure without a window', 'figure=active_ads&to=2026-01-01', 'to'],
    ['for a moment to come', 'figure=active_ads&as_of=2900-01-01T00:00:00Z', 'as_of'],
  ])('is the reply %s', async (_, query, path) => {
    const reply = await on(app).get(`/v1/brands/${randomUUID()}/proof?${query}`, { key: await stack.key() });
    expect(reply).toMatchObject({ status: query.includes('2900') ? 404 : 400 });
    if (reply.status === 400) expect(reply.error.details).toMatchObject([{ path }]);
  });
});

describe('getBrandProof 404', () => {
  it('is the reply for an unknown brand', async () => {
    const path = `/v1/brands/${randomUUID()}/proof?figure=active_ads`;
    expect((await on(app).get(path, { key: await stack.key() })).status).toBe(404);
  });
});
