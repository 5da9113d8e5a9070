import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { briefStream } from '#contracts/events/workspace/brief.ts';
import { reportStream } from '#contracts/events/workspace/report.ts';
import type { Report } from '#contracts/resources/workspace/report.ts';
import type { Restatement } from '#contracts/resources/workspace/restatement.ts';
import { SCOPES, type Scope } from '#contracts/values/access.ts';
import { silentLog } from '#platform/logger.ts';
import { openFolderStore } from '#platform/object-store/open-object-store.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { exportReports } from '#services/worker/reports/report-worker.ts';
import { restateDocuments, type RestatementDependencies } from '#services/worker/restatements.ts';
import { issueKey } from '#services/ops/workspaces.ts';
import { prepareDueBriefs } from '#services/worker/weekly-briefs.ts';
import { on } from '#tests/dsl/api.ts';
import { FEATURES } from '#tests/reference/features.ts';
import { place, type Placement } from '#tests/reference/service/placement.ts';
import { at, dateOf, profile, scan, shown, worldWith } from '#tests/reference/sketch.ts';
import type { WorldObservation } from '#tests/reference/world.ts';
import { worldArbitrary } from '#tests/reference/worlds.ts';
import { until } from '#tests/stack/wait-until.ts';
import { everyPage } from '../fixtures/boards.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from '../fixtures/stack.ts';

/** Delivered documents and their restatements say what the documents would say now. RESTATED_WORLDS=200 is the long form. */
const { RESTATED_WORLDS, RESTATED_SEED } = readSettings(
  z.object({
    RESTATED_WORLDS: z.coerce.number().int().positive().default(2),
    RESTATED_SEED: z.coerce.number().int().default(20_261_201),
  }),
);
const LIMIT_MS = 120_000 + 30_000 * RESTATED_WORLDS;
/** Worlds begin on 10 March and end before the 29th; brands are tracked from before. */
const TRACKED_AT = '2026-03-01T00:00:00.000Z';
const DELIVERED_AT = '2026-03-30T06:00:00.000Z';
const RESTATED_AT = '2026-03-31T04:30:00.000Z';
const WINDOW = { from: '2026-03-08', to: '2026-03-30' };
const WEEK = '2026-W11';

const fixed = (time: string) => ({ now: () => new Date(time) });

let stack: ApiStack;
let early: FastifyInstance;
let app: FastifyInstance;
let folder: string;
let intake: Intake;
let dependencies: RestatementDependencies;
const resources = new AsyncDisposableStack();
const { signal } = new AbortController();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'restated-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  stack = resources.use(await openApiStack());
  const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
  const objectStore = openFolderStore(folder);
  const options = { objectStore, requestsPerMinute: 1_000_000 };
  early = await stack.api({ ...options, clock: fixed(TRACKED_AT) });
  app = await stack.api({ ...options, clock: fixed(DELIVERED_AT) });
  intake = resources.use(await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL }));
  dependencies = {
    db: resources.use(openReadDatabase(DATABASE_URL)),
    database: stack.pool,
    eventStore: stack.eventStore,
    projectionWait: stack.projectionWait,
    objectStore,
    clock: fixed(RESTATED_AT),
    log: silentLog(),
  };
}, LIMIT_MS);
afterAll(() => resources.disposeAsync());

const projected = async (): Promise<void> => stack.projected(await stack.eventStore.head());
const restateAll = async (): Promise<void> => {
  await restateDocuments(dependencies, 0n, signal);
  await projected();
};

const observe = async (
  { messagesOf }: Placement,
  observations: readonly WorldObservation[],
): Promise<void> => {
  for (const message of observations.flatMap(messagesOf)) await intake.submit(message);
};

/** Ids of the brands that could be tracked. */
const track = async (key: Key, ids: readonly string[]): Promise<readonly string[]> => {
  const tracked: string[] = [];
  for (const brand_id of ids) {
    const path = `/v1/workspaces/${key.workspaceId}/tracked-brands`;
    if ((await on(early).post(path, { key, body: { brand_id } })).status === 201) tracked.push(brand_id);
  }
  await projected();
  return tracked;
};

const deliver = async (
  key: Key,
): Promise<{ readonly briefs: readonly string[]; readonly report: string }> => {
  const worker = { ...dependencies, clock: fixed(DELIVERED_AT) };
  await prepareDueBriefs(worker, signal);
  const ofWorkspace = `/v1/workspaces/${key.workspaceId}`;
  const { data } = await on(app).post(`${ofWorkspace}/reports`, { key, body: WINDOW });
  const { id } = data as Report;
  const ending = new AbortController();
  const exporting = exportReports({
    ...worker,
    objectStore: openFolderStore(folder),
    leaseClock: fixed(DELIVERED_AT),
    signal: ending.signal,
    workerId: 'worker',
    leaseSeconds: 60,
  });
  await until('report ready', 60_000, async () => {
    const reply = await on(app).get(`${ofWorkspace}/reports/${id}`, { key });
    return (reply.data as Report).status === 'ready';
  });
  ending.abort();
  await exporting;
  await projected();
  const briefs = (await on(app).get(`${ofWorkspace}/briefs`, { key })).data as { id: string }[];
  return { briefs: briefs.map((brief) => brief.id), report: id };
};

type Cells = Readonly<Record<string, string | number | null>>;
type Document = ReadonlyMap<string, Cells>;

const fileOf = async (key: Key, id: string): Promise<Document> => {
  const { data } = await on(app).get(`/v1/workspaces/${key.workspaceId}/reports/${id}`, { key });
  const url = String((data as Report).download_url).slice(BASE_URL.length);
  const { body } = await app.inject({ method: 'GET', url });
  const rows = parse<Record<string, string>>(body, { columns: true });
  return new Map(rows.map((row) => [`${row['brand_id']} ${row['item_id']}`, emptied(row)]));
};
/** Names of brands are not compared. */
const emptied = ({ brand_name: _name, brand_slug: _slug, ...cells }: Cells): Cells =>
  Object.fromEntries(Object.entries(cells).map(([column, cell]) => [column, cell === '' ? null : cell]));

type BriefReply = {
  readonly week: string;
  readonly changes_by_brand: readonly { readonly brand: { readonly id: string }; readonly changes: Cells }[];
};
const briefOf = async (key: Key, id: string): Promise<BriefReply> =>
  (await on(app).get(`/v1/workspaces/${key.workspaceId}/briefs/${id}`, { key })).data;
const countsOf = ({ changes_by_brand }: BriefReply): Document =>
  new Map(changes_by_brand.map(({ brand, changes }) => [`${brand.id} `, changes]));

const listOf = (key: Key, query = ''): Promise<readonly Restatement[]> =>
  everyPage(app, key, `/v1/workspaces/${key.workspaceId}/restatements${query && `?${query}`}`, 2);

/** The document after its restatements. Each row must fit to what the earlier ones have left. */
const restated = (delivered: Document, told: readonly Restatement[]): Document => {
  const document = new Map(delivered);
  for (const { rows, rows_total } of told.toReversed()) {
    expect(rows).toHaveLength(rows_total);
    for (const { brand_id, item_id, change, before, after } of rows) {
      const key = `${brand_id} ${item_id ?? ''}`;
      const known = document.get(key);
      expect(known === undefined, `${change} ${key}`).toBe(change === 'added');
      if (before) expect(known).toMatchObject(change === 'changed' ? before : emptied(before));
      if (after === null) document.delete(key);
      else document.set(key, change === 'added' ? emptied(after) : { ...known, ...after });
    }
  }
  return document;
};

const NEWS = shown('a2', { startedOn: dateOf(1) });
/** Late scans show `a3`, and then `a4` and an earlier start of `a2`. */
const LATE = scan('s5', at(3), [shown(), NEWS, shown('a3', { startedOn: dateOf(3) })]);
const LATER = scan('s2', at(1), [shown(), NEWS, shown('a4', { startedOn: dateOf(1) })]);
const IN_TIME = [
  scan('s1', at(0), [shown()]),
  scan('s4', at(2), [shown(), NEWS]),
  scan('s6', at(5), [shown(), NEWS]),
];

/** Delivers documents about the scans that were in time. */
const open = async (number: number, inTime: readonly WorldObservation[] = IN_TIME) => {
  const placement = place(worldWith(...IN_TIME, LATE, LATER), number);
  await observe(placement, inTime);
  const key = await stack.key();
  const brandId = placement.brandIdOf('b1.example');
  await track(key, ['b1.example', 'b2.example'].map(placement.brandIdOf));
  const { briefs, report } = await deliver(key);
  const found = await Promise.all(briefs.map(async (id) => ({ id, week: (await briefOf(key, id)).week })));
  const brief = found.find(({ week }) => week === WEEK)?.id ?? '';
  return { placement, key, brandId, brief, report };
};

describe('restateDocuments', () => {
  it('tells once what a late scan changed in a brief and a report, with the events', async () => {
    const { placement, key, brandId, brief, report } = await open(700);
    await restateAll();
    expect(await listOf(key)).toEqual([]);
    const before = await briefOf(key, brief);
    await observe(placement, [LATE]);
    await projected();
    await Promise.all([restateAll(), restateAll()]);
    await restateAll();
    const a3 = placement.adIdOf('a3');
    const all = await listOf(key);
    expect(all).toHaveLength(2);
    const [ofBrief] = await listOf(key, `brief_id=${brief}`);
    expect(ofBrief).toMatchObject({
      brief_id: brief,
      report_id: null,
      restated_at: RESTATED_AT,
      rows_total: 1,
      rows: [
        {
          brand_id: brandId,
          item_id: null,
          ad_id: null,
          change: 'changed',
          before: { ads_started: 1 },
          after: { ads_started: 2 },
        },
      ],
      url: `${BASE_URL}/v1/workspaces/${key.workspaceId}/briefs/${brief}`,
    });
    const [ofReport] = await listOf(key, `report_id=${report}`);
    expect(ofReport).toMatchObject({
      brief_id: null,
      report_id: report,
      rows_total: 1,
      rows: [
        {
          brand_id: brandId,
          ad_id: a3,
          change: 'added',
          before: null,
          after: { ad_id: a3, type: 'ad_started', observed_at: at(3), correction: 'added' },
        },
      ],
    });
    for (const one of [ofBrief, ofReport])
      expect(one?.rows[0]?.events[0]).toMatchObject({
        stream: `adLibrary-${brandId}`,
        type: 'AdObservationCorrected',
        observed_at: at(3),
      });
    // The document stays as it was delivered.
    expect(await briefOf(key, brief)).toEqual(before);
  });

  it('compares a second late scan with the restatement of the first', async () => {
    const { placement, key, brief, report } = await open(701);
    await observe(placement, [LATE]);
    await restateAll();
    await observe(placement, [LATER]);
    await restateAll();
    const ofBrief = await listOf(key, `brief_id=${brief}`);
    expect(ofBrief.map(({ rows }) => rows.map((row) => [row.before, row.after]))).toEqual([
      [
        [
          { ads_started: 2, ads_stopped: 0 },
          { ads_started: 3, ads_stopped: 1 },
        ],
      ],
      [[{ ads_started: 1 }, { ads_started: 2 }]],
    ]);
    const [second, first] = await listOf(key, `report_id=${report}`);
    expect(first?.rows.map(({ ad_id }) => ad_id)).toEqual([placement.adIdOf('a3')]);
    expect(second?.rows.map((row) => [row.ad_id, row.change, row.after?.['correction']])).toEqual(
      expect.arrayContaining([
        [placement.adIdOf('a2'), 'changed', 'withdrawn'],
        [placement.adIdOf('a2'), 'added', 'added'],
        [placement.adIdOf('a4'), 'added', 'added'],
      ]),
    );
    expect(second?.rows.map(({ ad_id }) => ad_id)).not.toContain(placement.adIdOf('a3'));
  });

  it('restates for a scan that was recorded after the brief, also when it is the newest', async () => {
    const { placement, key, brandId, brief } = await open(706, IN_TIME.slice(0, 2));
    const a5 = shown('a5', { startedOn: dateOf(4) });
    await observe(placement, [scan('s6', at(5), [shown(), NEWS, a5])]);
    await restateAll();
    expect(await listOf(key, `brief_id=${brief}`)).toMatchObject([
      {
        rows: [
          {
            brand_id: brandId,
            before: { ads_started: 1 },
            after: { ads_started: 2 },
            events: [{ type: 'AdStarted', observed_at: at(5) }, { type: 'AdStarted' }],
          },
        ],
      },
    ]);
  });

  it('restates a report of the day for earlier scans, and not for those after it was ready', async () => {
    const { placement, key, report } = await open(707);
    const startedOn = dateOf(19);
    const after = scan('s8', at(20, '07:00'), [shown(), NEWS, shown('a6', { startedOn })]);
    await observe(placement, [after]);
    await restateAll();
    expect(await listOf(key, `report_id=${report}`)).toEqual([]);
    await observe(placement, [scan('s7', at(20, '05:00'), [shown(), NEWS, shown('a7', { startedOn })])]);
    await restateAll();
    const [restatement] = await listOf(key, `report_id=${report}`);
    expect(restatement?.rows.map(({ ad_id }) => ad_id)).toEqual([placement.adIdOf('a7')]);
  });

  it('tells all rows at once, in as many restatements as they take', async () => {
    const { placement, key, report } = await open(709);
    const many = Array.from({ length: 120 }, (_, index) => shown(`a${index + 10}`, { startedOn: dateOf(3) }));
    await observe(placement, [scan('s5', at(3), [shown(), NEWS, ...many])]);
    await restateAll();
    const told = await listOf(key, `report_id=${report}`);
    expect(told.map(({ rows, rows_total }) => [rows.length, rows_total])).toEqual([
      [20, 20],
      [100, 120],
    ]);
    expect(new Set(told.flatMap(({ rows }) => rows.map((row) => row.ad_id))).size).toBe(120);
    await restateAll();
    expect(await listOf(key, `report_id=${report}`)).toHaveLength(2);
  });

  it.each(['', 'a,"b'])(
    'compares no report whose file was altered, here to %j, and goes on',
    async (text) => {
      const { placement, key, report } = await open(text === '' ? 690 : 691);
      const files = await readdir(folder, { recursive: true });
      const file = files.find((name) => name.includes(report) && name.endsWith('.csv')) ?? '';
      await writeFile(join(folder, file), text);
      await observe(placement, [LATE]);
      await projected();
      expect(await restateDocuments(dependencies, 0n, signal)).toBeGreaterThan(0n);
      await projected();
      expect(await listOf(key, `report_id=${report}`)).toEqual([]);
    },
  );

  it('takes back a row that a restatement added when its item moves to another brand', async () => {
    const { placement, key, brandId, brief, report } = await open(708, [
      ...IN_TIME,
      profile(at(0), 'b2.example'),
    ]);
    const other = placement.brandIdOf('b2.example');
    await observe(placement, [LATE]);
    await restateAll();
    await stack.pool.query('update radar.item set brand_id = $1 where ad_id = $2', [
      other,
      placement.adIdOf('a3'),
    ]);
    await restateAll();
    const changesOf = async (query: string) => {
      const [newest] = await listOf(key, query);
      return new Map(newest?.rows.map((row) => [row.brand_id, [row.change, row.after?.['ads_started']]]));
    };
    expect(await listOf(key)).toHaveLength(4);
    expect(await changesOf(`report_id=${report}`)).toEqual(
      new Map([
        [brandId, ['removed', undefined]],
        [other, ['added', undefined]],
      ]),
    );
    expect(await changesOf(`brief_id=${brief}`)).toEqual(
      new Map([
        [brandId, ['changed', 1]],
        [other, ['changed', 1]],
      ]),
    );
  });

  it('records each event once when a worker dies after an append, and goes on where it stopped', async () => {
    const { placement, key, brief, report } = await open(702);
    await observe(placement, [LATE]);
    await projected();
    const append: typeof stack.eventStore.append = async (...appended) => {
      const end = await stack.eventStore.append(...appended);
      if (appended[0].startsWith('brief-')) throw new Error('killed');
      return end;
    };
    const dying = { ...dependencies, eventStore: { ...stack.eventStore, append } };
    expect(await restateDocuments(dying, 1n, signal)).toBe(1n);
    expect(await restateDocuments(dependencies, 1n, signal)).toBeGreaterThan(1n);
    const typesOf = async (stream: string): Promise<readonly string[]> => {
      const types: string[] = [];
      for await (const { type } of stack.eventStore.read(stream)) types.push(type);
      return types;
    };
    expect(await typesOf(briefStream(key.workspaceId, brief))).toEqual(['BriefPrepared', 'BriefRestated']);
    expect(await typesOf(reportStream(key.workspaceId, report))).toEqual([
      'ReportRequested',
      'ReportStarted',
      'ReportFinished',
      'ReportRestated',
    ]);
  });

  it('compares nothing that did not change after the position, nor a file that is gone, and goes on', async () => {
    const { placement, key, report, brief } = await open(703);
    await observe(placement, [LATE]);
    await projected();
    await restateDocuments(dependencies, await stack.eventStore.head(), signal);
    await projected();
    expect(await listOf(key)).toEqual([]);
    const gone = { ...dependencies, objectStore: { open: async () => null } };
    expect(await restateDocuments(gone, 2n, signal)).toBeGreaterThan(2n);
    await projected();
    expect(await listOf(key, `brief_id=${brief}`)).toHaveLength(1);
    expect(await listOf(key, `report_id=${report}`)).toEqual([]);
  });

  it(
    'gives, with the delivered documents, those that would be made now, in generated worlds',
    async () => {
      const worlds = fc.sample(worldArbitrary(FEATURES), { numRuns: RESTATED_WORLDS, seed: RESTATED_SEED });
      let rows = 0;
      for (const [index, world] of worlds.entries()) {
        const placement = place(world, 710 + index);
        const { observations } = world;
        const [half, most] = [Math.ceil(observations.length / 2), Math.ceil(observations.length * 0.8)];
        await observe(placement, observations.slice(0, half));
        const key = await stack.key();
        const tracked = await track(key, world.brands.map(placement.brandIdOf));
        if (tracked.length === 0) continue;
        const delivered = await deliver(key);
        const [file, briefs] = await Promise.all([
          fileOf(key, delivered.report),
          Promise.all(delivered.briefs.map((id) => briefOf(key, id))),
        ]);
        for (const part of [observations.slice(half, most), observations.slice(most)]) {
          await observe(placement, part);
          await projected();
          await restateAll();
        }
        await restateAll();
        const now = await stack.key();
        await track(now, tracked);
        const present = await deliver(now);
        const told = await listOf(key, `report_id=${delivered.report}`);
        rows += told.reduce((sum, one) => sum + one.rows_total, 0);
        expect(restated(file, told), `report of world ${index}`).toEqual(await fileOf(now, present.report));
        const presentBriefs = await Promise.all(present.briefs.map((id) => briefOf(now, id)));
        for (const [nth, brief] of briefs.entries()) {
          const tells = await listOf(key, `brief_id=${delivered.briefs[nth]}`);
          const same = presentBriefs.find(({ week }) => week === brief.week);
          expect(restated(countsOf(brief), tells), `${brief.week} of world ${index}`).toEqual(
            same && countsOf(same),
          );
        }
      }
      expect(rows).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});

describe('getBrief and getReport', () => {
  it('name the restatements in `link`, once there are any', async () => {
    const { placement, key, brief, report } = await open(704);
    const paths = [
      [`briefs/${brief}`, `brief_id=${brief}`],
      [`reports/${report}`, `report_id=${report}`],
    ];
    const linkOf = async (path = ''): Promise<unknown> =>
      (await on(app).get(`/v1/workspaces/${key.workspaceId}/${path}`, { key })).headers['link'];
    for (const [path] of paths) expect(await linkOf(path)).toBeUndefined();
    await observe(placement, [LATE]);
    await restateAll();
    for (const [path, query = ''] of paths) {
      const address = `${BASE_URL}/v1/workspaces/${key.workspaceId}/restatements?${query}`;
      expect(await linkOf(path)).toBe(`<${address}>; rel="describedby"`);
      expect(await listOf(key, query)).toHaveLength(1);
    }
  });
});

describe('listRestatements 200', () => {
  it('has those of briefs or reports for a key with the scope of one, and none of another workspace', async () => {
    const { placement, key, brief, report } = await open(705);
    await observe(placement, [LATE]);
    await restateAll();
    const other = await stack.key();
    expect(await listOf(other)).toEqual([]);
    const operator = { ...stack, actor: { kind: 'service', id: 'tests' } } as const;
    const without = async (lacking: Scope): Promise<Key> => {
      const scopes = SCOPES.filter((scope) => scope !== lacking);
      const issued = await issueKey(operator, key.workspaceId, key.memberId, lacking, scopes);
      return { ...key, text: issued.api_key };
    };
    const documentsOf = async (reader: Key) =>
      (await listOf(reader)).map((one) => one.brief_id ?? one.report_id);
    expect(new Set(await documentsOf(key))).toEqual(new Set([brief, report]));
    expect(await documentsOf(await without('briefs:read'))).toEqual([report]);
    const readerOfBriefs = await without('reports:read');
    expect(await documentsOf(readerOfBriefs)).toEqual([brief]);
    const path = `/v1/workspaces/${key.workspaceId}/briefs/${brief}`;
    const { headers } = await on(app).get(path, { key: readerOfBriefs });
    expect(headers['link']).toContain(`restatements?brief_id=${brief}`);
  });
});

describe('listRestatements 400', () => {
  it('is the reply to the ids of both documents, and to one that is none', async () => {
    const key = await stack.key();
    const path = `/v1/workspaces/${key.workspaceId}/restatements`;
    const both = await on(app).get(`${path}?brief_id=${randomUUID()}&report_id=${randomUUID()}`, { key });
    expect(both).toMatchObject({ status: 400, error: { details: [{ path: 'report_id' }] } });
    const none = await on(app).get(`${path}?brief_id=1`, { key });
    expect(none).toMatchObject({ status: 400, error: { details: [{ path: 'brief_id' }] } });
  });
});

describe('listRestatements 404', () => {
  it('is the reply for another workspace', async () => {
    const [key, other] = [await stack.key(), await stack.key()];
    const path = `/v1/workspaces/${other.workspaceId}/restatements`;
    expect((await on(app).get(path, { key })).status).toBe(404);
  });
});
