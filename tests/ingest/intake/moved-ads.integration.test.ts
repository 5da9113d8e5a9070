import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { AdAttributed } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { derivedId } from '#contracts/values/derived-id.ts';
import { type AdState, recordOf } from '#domain/corpus/ad-library/state.ts';
import { brandIdOf } from '#domain/ids.ts';
import { eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { catchUpLibrary } from '#services/ingest/ad-library/catch-up-library.ts';
import { createWorkingTables } from '#services/ingest/ad-library/library-store.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { ad } from '#tests/dsl/scans.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

/** Tests working tables after ads moved between brands (rule 10). */

let stack: IntakeStack;
let database: Database;

beforeAll(async () => {
  stack = await openIntakeStack();
  database = openPool(stack.databaseUrl, 2);
});
afterAll(async () => {
  await database.end();
  await stack[Symbol.asyncDispose]();
});

/** Page of one ad, so that a link decides about one ad. */
const pageOf = (id: number): string => `81000000${id}`;
const PAGES = [1, 2, 3, 4, 5].map(pageOf);

const submit = async (domain: string, at: string, ads: readonly ObservedAd[]) => {
  const { chunks, end } = scanOf(domain, at, ads, { pages: PAGES });
  for (const chunk of chunks) await stack.intake.submit(chunk);
  return await stack.intake.submit(end);
};

const onPage = (id: number, fields: Partial<ObservedAd> = {}) => ad(id, { page_id: pageOf(id), ...fields });

const eventsOf = async (domain: string): Promise<AdLibraryEvent[]> => {
  const events: AdLibraryEvent[] = [];
  for await (const event of stack.eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf(domain))))
    events.push(event);
  return events;
};

const typesOf = async (domain: string, id: number): Promise<readonly string[]> =>
  (await eventsOf(domain)).flatMap(({ type, data }) =>
    'ad_id' in data && data.ad_id === ad(id).ad_id ? [type] : [],
  );

/** Takes an ad away as a process that is killed before the other append. */
const takeAway = async (id: number, from: string, to: string, observed_at: string): Promise<void> => {
  await database.query('delete from ingest.linked_page where social_page_id = $1', [pageOf(id)]);
  await database.query(
    'insert into ingest.linked_page (brand_id, social_page_id, confidence, linked_at) values ($1, $2, 0.9, $3)',
    [brandIdOf(to), pageOf(id), observed_at],
  );
  await database.query(
    `insert into ingest.page_link (brand_id, social_page_id, observed_at, linked, confidence)
     values ($1, $2, $3, true, 0.95), ($4, $2, $3, false, null)`,
    [brandIdOf(to), pageOf(id), observed_at, brandIdOf(from)],
  );
  const { rows } = await database.query<{ known: AdState }>(
    'select known from ingest.ad where ad_id = $1 and brand_id = $2',
    [ad(id).ad_id, brandIdOf(from)],
  );
  const known = rows[0]?.known;
  if (!known) throw new Error(`${from} has no ad ${id}`);
  const stream = adLibraryStream(brandIdOf(from));
  const moved: AdAttributed = {
    type: 'AdAttributed',
    data: {
      brand_id: brandIdOf(from),
      scan_id: derivedId('cause of a move', `${id}|${observed_at}`),
      observed_at,
      ad_id: known.ad_id,
      from_brand_id: brandIdOf(from),
      to_brand_id: brandIdOf(to),
      ad: recordOf(known),
    },
  };
  const { scan_id } = moved.data;
  const metadata = eventMetadata({
    actor: serviceActor('ingest'),
    correlationId: scan_id,
    causationId: scan_id,
  });
  const last = await stack.eventStore.last(stream);
  await stack.eventStore.append(stream, last?.revision ?? -1n, [moved], metadata, scan_id);
};

/** Starts another process. Returns the number of events that the start appended. */
const restart = async (): Promise<number> => {
  const events = async () => (await eventsOf('from.example')).length + (await eventsOf('to.example')).length;
  const before = await events();
  await (await openIntake(stack))[Symbol.asyncDispose]();
  return (await events()) - before;
};

const tables = async () => {
  const read = async (text: string) => (await database.query(text)).rows as readonly unknown[];
  return {
    ads: await read('select ad_id, brand_id, live, known from ingest.ad order by ad_id, brand_id'),
    owners: await read('select ad_id, brand_id, since from ingest.ad_owner order by ad_id'),
    moves: await read('select * from ingest.ad_move order by ad_id, scan_id'),
    libraries: await read('select brand_id, live, missing, total from ingest.library order by brand_id'),
  };
};

const LINK_TABLES = ['linked_page', 'page_link'] as const;

/** Drops the working tables. The links of `takeAway` stay, because the log does not have them. */
const dropTables = async (): Promise<void> => {
  const links = await Promise.all(
    LINK_TABLES.map(async (table) => (await database.query(`select * from ingest.${table}`)).rows),
  );
  await database.query('drop schema ingest cascade');
  await createWorkingTables(database);
  for (const [index, table] of LINK_TABLES.entries()) {
    await database.query(
      `insert into ingest.${table} select * from jsonb_populate_recordset(null::ingest.${table}, $1)`,
      [JSON.stringify(links[index])],
    );
  }
};

describe('an ad that moves to another brand', () => {
  it('gets its second event when a process starts, after the first process was killed between the two', async () => {
    await submit('from.example', '2026-05-01T10:00:00Z', [onPage(1), onPage(2), onPage(3)]);
    await submit('to.example', '2026-05-02T10:00:00Z', [onPage(1), onPage(2), onPage(3), onPage(4)]);
    await takeAway(1, 'from.example', 'to.example', '2026-05-03T10:00:00.000Z');
    expect(await restart()).toBe(1);
    const [left, arrived] = [await eventsOf('from.example'), await eventsOf('to.example')].map((events) =>
      events.findLast(({ type }) => type === 'AdAttributed'),
    );
    expect(arrived?.data).toEqual({
      ...left?.data,
      brand_id: brandIdOf('to.example'),
      ads_now: { active: 2, total: 2 },
    });
    expect(await restart()).toBe(0);
  });

  it('is decided in the stream of its present brand by scans of any brand', async () => {
    await submit('from.example', '2026-05-04T10:00:00Z', [onPage(1, { body: 'New words' }), onPage(2)]);
    expect(await typesOf('from.example', 1)).toEqual(['AdStarted', 'AdAttributed']);
    expect(await typesOf('to.example', 1)).toEqual(['AdAttributed', 'AdDetailsObserved']);
    const { libraries } = await tables();
    expect(libraries).toContainEqual({
      brand_id: brandIdOf('from.example'),
      live: 2,
      missing: 1,
      total: 2,
    });
    expect(libraries).toContainEqual({
      brand_id: brandIdOf('to.example'),
      live: 2,
      missing: 1,
      total: 2,
    });
  });

  it('is completed by the next scan that shows it, also without a start', async () => {
    await takeAway(2, 'from.example', 'to.example', '2026-05-05T10:00:00.000Z');
    // An append that meets the move folds the former brand's stream.
    await submit('from.example', '2026-05-05T12:00:00Z', []);
    await submit('to.example', '2026-05-06T10:00:00Z', [onPage(2)]);
    expect(await typesOf('to.example', 2)).toEqual(['AdAttributed']);
    expect(await typesOf('from.example', 2)).toEqual(['AdStarted', 'AdAttributed']);
  });

  it('may move back, and then belongs to the first brand again', async () => {
    await takeAway(1, 'to.example', 'from.example', '2026-05-07T10:00:00.000Z');
    expect(await restart()).toBe(1);
    await submit('to.example', '2026-05-08T10:00:00Z', [onPage(1, { body: 'Other words' })]);
    expect((await typesOf('from.example', 1)).at(-1)).toBe('AdRevised');
  });

  it.each([
    ['from.example', 'to.example'],
    ['to.example', 'from.example'],
  ])('has the same working tables after they were dropped, with %s folded first', async (...domains) => {
    const before = await tables();
    await dropTables();
    for (const domain of domains) {
      await catchUpLibrary(database, stack.eventStore, brandIdOf(domain));
    }
    expect(await tables()).toEqual(before);
    expect(before.moves).toHaveLength(3);
    expect(await restart()).toBe(0);
  });
});
