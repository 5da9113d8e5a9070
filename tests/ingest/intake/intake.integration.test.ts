import { brandProfile } from '#tests/dsl/site-events.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { AdLibraryScanChunk, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { brandIdOf } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { openPool } from '#platform/postgres/pool.ts';
import type { IntakeOutcome } from '#services/ingest/intake-types.ts';
import { recordStagedScan } from '#services/ingest/ad-library/record-scan.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { ad } from '#tests/dsl/scans.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

let stack: IntakeStack;
let databaseUrl: string;
let eventStoreUrl: string;
let intake: IntakeStack['intake'];
let eventStore: EventStore;

beforeAll(async () => {
  stack = await openIntakeStack();
  ({ databaseUrl, eventStoreUrl, intake, eventStore } = stack);
});
afterAll(() => stack[Symbol.asyncDispose]());

const submitScan = async (...args: Parameters<typeof scanOf>): Promise<IntakeOutcome> => {
  const { chunks, end } = scanOf(...args);
  for (const chunk of chunks) await intake.submit(chunk);
  return intake.submit(end);
};

const eventsOf = async (domain: string): Promise<AdLibraryEvent[]> => {
  const events: AdLibraryEvent[] = [];
  for await (const event of eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf(domain))))
    events.push(event);
  return events;
};

const started = async (domain: string): Promise<readonly string[]> =>
  (await eventsOf(domain)).flatMap((event) => (event.type === 'AdStarted' ? [event.data.ad_id] : []));

const profile = (domain: string, name: string) =>
  intake.submit(brandProfile({ domain, observed_at: '2026-05-01T00:00:00Z', name }));

describe('brands', () => {
  it('are registered once, and changed only when a profile differs', async () => {
    expect((await profile('profile.example', 'One')).events).toBe(1);
    expect((await profile('profile.example', 'One')).events).toBe(0);
    expect((await profile('profile.example', 'Two')).events).toBe(1);
    const events: BrandEvent[] = [];
    for await (const event of eventStore.read<BrandEvent>(brandStream(brandIdOf('profile.example'))))
      events.push(event);
    expect(events.map(({ type }) => type)).toEqual(['BrandRegistered', 'BrandProfileChanged']);
    expect(events[1]?.data).toMatchObject({ changes: { name: 'Two' } });
  });

  it('are registered by domain when a scan is for an unregistered brand', async () => {
    const outcome = await submitScan('unheard.example', '2026-05-02T10:00:00Z', [ad('41')], {
      pages: ['410000001'],
    });
    expect(outcome).toMatchObject({ events: 3, totals: { baseline: 1 } });
    expect(await eventStore.last(brandStream(brandIdOf('unheard.example')))).toMatchObject({
      type: 'BrandRegistered',
      data: { name: 'unheard.example', slug: 'unheard' },
    });
  });
});

describe('scans', () => {
  it('record each ad once when chunks arrive in any order and twice (rule 8)', async () => {
    const ads = [ad('51', { title: 'one' }), ad('52'), ad('53'), ad('51', { title: 'a version of one' })];
    const { chunks, end } = scanOf('chunks.example', '2026-05-02T10:00:00Z', ads, {
      chunkSize: 1,
      pages: ['510000001'],
    });
    for (const chunk of [...chunks.toReversed(), ...chunks]) await intake.submit(chunk);
    expect(await intake.submit(end)).toMatchObject({ totals: { seen: 3, baseline: 3, active: 3 } });
    expect((await started('chunks.example')).length).toBe(3);
    expect(await intake.submit(end), 'submitted again').toEqual({ events: 0, totals: null });
  });

  it('fail until all chunks have arrived, and are then recorded', async () => {
    const { chunks, end } = scanOf('waiting.example', '2026-05-02T10:00:00Z', [ad('61'), ad('62')], {
      chunkSize: 1,
      pages: ['610000001'],
    });
    await intake.submit(chunks[0]);
    await expect(intake.submit(end)).rejects.toThrow('only 1 have arrived');
    expect(await eventsOf('waiting.example')).toEqual([]);
    await intake.submit(chunks[1]);
    expect(await intake.submit(end)).toMatchObject({ totals: { seen: 2 } });
  });

  it('are recorded completely when they exceed one append', async () => {
    const many = Array.from({ length: 1_200 }, (_, index) =>
      ad(`7${String(index).padStart(5, '0')}`, { page_id: '710000001', body: 'x'.repeat(1_500) }),
    );
    const at = { pages: ['710000001'] };
    await submitScan('large.example', '2026-05-02T10:00:00Z', many, at);
    expect((await started('large.example')).length).toBe(1_200);
    await submitScan('large.example', '2026-05-03T10:00:00Z', [], at);
    const outcome = await submitScan('large.example', '2026-05-04T10:00:00Z', [], at);
    expect(outcome.totals).toMatchObject({ active: 0, stopped: 1_200, total: 1_200 });
  });
});

describe('attribution (rule 10)', () => {
  const shared = { pages: ['810000001'] };

  it('uses the domain of the destination, then the page, then the brand of the scan', async () => {
    await profile('one.example', 'One');
    await profile('two.example', 'Two');
    await profile('pages.example', 'Pages');
    await intake.submit({
      type: 'social_page.link',
      brand_domain: 'pages.example',
      page_id: '820000002',
      page_name: 'A page',
      observed_at: '2026-05-01T00:00:00Z',
      role: 'OFFICIAL',
      confidence: 0.9,
      linked: true,
    });
    const page_id = '810000001';
    await submitScan(
      'one.example',
      '2026-05-02T10:00:00Z',
      [
        ad('81', { page_id, link_url: 'https://www.one.example/a' }),
        ad('82', { page_id, link_url: 'https://shop.two.example/b?utm_source=x' }),
        ad('83', { page_id: '820000002', link_url: 'https://apps.apple.com/us/app/x/id1' }),
        ad('84', { page_id, link_url: 'https://elsewhere.example/' }),
      ],
      { pages: [page_id, '820000002'] },
    );
    const ids = (...numbers: string[]) => numbers.map((number) => ad(number).ad_id);
    expect(await started('one.example')).toEqual(ids('81', '84'));
    expect(await started('two.example')).toEqual(ids('82'));
    expect(await started('pages.example')).toEqual(ids('83'));
  });

  it('detects absence for every brand with ads on the covered page', async () => {
    const own = [ad('81', { page_id: '810000001', link_url: 'https://one.example/a' })];
    await submitScan('one.example', '2026-05-03T10:00:00Z', own, shared);
    await submitScan('one.example', '2026-05-04T10:00:00Z', own, shared);
    const events = await eventsOf('two.example');
    expect(events.map(({ type }) => type)).toContain('AdConfirmedInactive');
  });

  it('starts an ad in one stream when concurrent scans of two brands show it', async () => {
    const ads = Array.from({ length: 40 }, (_, index) =>
      ad(`90${index}`, { page_id: '910000001', link_url: 'https://apps.apple.com/us/app/x/id1' }),
    );
    const at = '2026-05-02T10:00:00Z';
    await Promise.all(
      ['left.example', 'right.example'].map((domain) =>
        submitScan(domain, at, ads, { pages: ['910000001'], chunkSize: 7 }),
      ),
    );
    const [left, right] = [await started('left.example'), await started('right.example')];
    expect([...left, ...right].toSorted()).toEqual(ads.map(({ ad_id }) => ad_id).toSorted());
  });
});

describe('a scan of several brands', () => {
  const page_id = '330000001';
  const ends = { pages: [page_id] };
  /** Scans two days. Can interrupt the second scan after the other brand. */
  const twoDays = async (name: string, interrupted: boolean): Promise<readonly AdLibraryEvent[]> => {
    const [own, other] = [`own.${name}.example`, `other.${name}.example`];
    await profile(other, 'Other');
    const show = (id: string, domain: string, started_on: string): ObservedAd =>
      ad(`${name.length}${id}`, {
        page_id: `${name.length}${page_id}`,
        started_on,
        link_url: `https://${domain}/`,
      });
    const pages = ends.pages.map((page) => `${name.length}${page}`);
    await submitScan(other, '2026-05-02T10:00:00Z', [show('1', other, '2026-05-01')], { pages });
    const { chunks, end } = scanOf(
      own,
      '2026-05-03T10:00:00Z',
      [show('2', other, '2026-05-03'), show('3', own, '2026-05-03')],
      { pages },
    );
    for (const chunk of chunks) await intake.submit(chunk);
    if (interrupted) {
      const database = openPool(databaseUrl, 2);
      const failing: EventStore = {
        ...eventStore,
        append: (stream, ...rest) =>
          stream === adLibraryStream(brandIdOf(own))
            ? Promise.reject(new Error('the process ends here'))
            : eventStore.append(stream, ...rest),
      };
      const scanEnd = { ...end, scanned_at: new Date(end.scanned_at).toISOString() };
      await expect(recordStagedScan(database, failing, scanEnd)).rejects.toThrow('ends here');
      await database.end();
    }
    await intake.submit(end);
    return [...(await eventsOf(other)), ...(await eventsOf(own))];
  };

  it('is decided on the same page history when it resumes after an interruption between two brands', async () => {
    const summarize = (events: readonly AdLibraryEvent[]) =>
      events.map(({ type, data }) => [
        type,
        'novelty' in data ? data.novelty : '',
        'pages' in data ? data.pages.map(({ baseline }) => baseline) : [],
      ]);
    const uninterrupted = summarize(await twoDays('a', false));
    expect(uninterrupted).toContainEqual(['AdStarted', 'news', []]);
    expect(summarize(await twoDays('ab', true))).toEqual(uninterrupted);
  });

  it('refuses a chunk that comes again with other content, and accepts an identical one', async () => {
    const page = { pages: ['370000001'] };
    const { chunks, end } = scanOf('again.example', '2026-05-03T10:00:00Z', [ad('371')], page);
    for (const chunk of chunks) await intake.submit(chunk);
    for (const chunk of chunks) {
      await intake.submit(chunk);
      await expect(intake.submit({ ...chunk, ads: [ad('372')] })).rejects.toThrow(
        `Chunk ${chunk.chunk} of the scan ${chunk.scan_id} was submitted before with other content.`,
      );
    }
    await intake.submit(end);
    expect(await started('again.example')).toEqual([ad('371').ad_id]);
  });

  it('refuses other content of a chunk after its scan was recorded, and skips old chunks', async () => {
    const page = { pages: ['371000001'], chunkSize: 1 };
    const scan = scanOf('closed.example', '2026-05-03T10:00:00Z', [ad('373'), ad('374')], page);
    const [first, last] = scan.chunks as [AdLibraryScanChunk, AdLibraryScanChunk];
    for (const chunk of [first, last]) await intake.submit(chunk);
    await intake.submit(scan.end);
    for (const chunk of [first, last]) await intake.submit(chunk);
    const other = { ...last, ads: [ad('375')] };
    await expect(intake.submit(other)).rejects.toThrow('was submitted before with other content');
    const further = { ...last, chunk: 2 };
    await expect(intake.submit(further)).rejects.toThrow('after the scan was recorded without it');
    await intake.submit(scan.end);
    expect(await started('closed.example')).toEqual([ad('373').ad_id, ad('374').ad_id]);

    // 30 days after the last chunk of a scan.
    const database = openPool(stack.databaseUrl, 1);
    const age = `update ingest.staged_chunk set staged_at = now() - make_interval(days => $1)
      where scan_id = $2 and chunk <= $3`;
    await database.query(age, [31, first.scan_id, 0]);
    await stack.intake.deleteExpired();
    await expect(intake.submit({ ...first, ads: [ad('375')] })).rejects.toThrow('with other content');
    await database.query(age, [31, first.scan_id, 1]);
    await stack.intake.deleteExpired();
    await database.end();
    for (const late of [first, last, other, further])
      expect(await intake.submit(late)).toMatchObject({ events: 0 });
    expect(await started('closed.example')).toEqual([ad('373').ad_id, ad('374').ad_id]);
  });

  it('refuses the parts of a scan that name another brand, before and after the scan was recorded', async () => {
    const page = { pages: ['372000001'], chunkSize: 1 };
    const scan = scanOf('named.example', '2026-05-03T10:00:00Z', [ad('376'), ad('377')], page);
    const [first, last] = scan.chunks as [AdLibraryScanChunk, AdLibraryScanChunk];
    const other = { brand_domain: 'renamed.example' };
    const refuses = async (part: object): Promise<void> => {
      await expect(intake.submit({ ...part, ...other })).rejects.toThrow(
        `The scan ${first.scan_id} was submitted before for another \`brand_domain\`.`,
      );
    };
    await intake.submit(first);
    for (const part of [first, last]) await refuses(part);
    await intake.submit(last);
    await refuses(scan.end);
    await intake.submit(scan.end);
    for (const part of [first, last, { ...last, chunk: 2 }, scan.end]) await refuses(part);
    for (const part of [first, last, scan.end])
      expect(await intake.submit(part)).toMatchObject({ events: 0 });
    expect(await started('named.example')).toEqual([ad('376').ad_id, ad('377').ad_id]);
    expect(await eventsOf('renamed.example')).toEqual([]);
    expect(await intake.isBrandRegistered('renamed.example')).toBe(false);
  });

  it('records a page once when its coverage names it twice', async () => {
    const { chunks, end } = scanOf('twice.example', '2026-05-03T10:00:00Z', [ad('34')], {
      pages: ['340000001', '340000001'],
    });
    for (const chunk of chunks) await intake.submit(chunk);
    await intake.submit(end);
    const recorded = (await eventsOf('twice.example')).find(({ type }) => type === 'ScanRecorded');
    expect(recorded?.data).toMatchObject({ pages: [{ page_id: '340000001' }] });
  });
});

describe('scans with one timestamp, each of one country', () => {
  it('all detect new ads and absences', async () => {
    const page_id = '360000001';
    const show = (id: string, started_on: string): ObservedAd => ad(id, { page_id, started_on });
    const scanned = async (day: number, ads: Readonly<Record<string, readonly ObservedAd[]>>) => {
      const totals = [];
      for (const [country, shown] of Object.entries(ads)) {
        const at = `2026-05-0${day}T10:00:00Z`;
        const outcome = await submitScan('countries.example', at, shown, {
          pages: [page_id],
          countries: [country],
        });
        totals.push(outcome.totals);
      }
      return totals;
    };
    await scanned(1, { US: [show('361', '2026-04-01')], DE: [show('362', '2026-04-01')] });
    const news = await scanned(2, {
      US: [show('361', '2026-04-01'), show('363', '2026-05-02')],
      DE: [show('362', '2026-04-01'), show('364', '2026-05-02')],
    });
    expect(news).toMatchObject([
      { news: 1, late: 0 },
      { news: 1, late: 0 },
    ]);
    await scanned(3, { US: [], DE: [] });
    const stopped = await scanned(4, { US: [], DE: [] });
    expect(stopped).toMatchObject([{ stopped: 2 }, { stopped: 2 }]);
    // Scans of the same time are ordered by id.
    const active = new Map<string, number>();
    for (const { type, data } of await eventsOf('countries.example')) {
      if (type === 'ScanRecorded' || type === 'ScanCorrected') active.set(data.scan_id, data.totals.active);
    }
    expect([...active.values()].filter((count) => count === 0)).toHaveLength(1);
  });
});

describe('timestamps', () => {
  it.each([
    ['before the year 2000', '0000-01-01T00:00:00Z'],
    ['before the year 2000', '1999-12-31T23:59:59Z'],
    ['in the future', new Date(Date.now() + 2 * 86_400_000).toISOString()],
    ['in the future', '9999-12-31T23:59:59Z'],
  ])('are refused when they are %s: %s', async (what, at) => {
    const head = await eventStore.head();
    const { chunks, end } = scanOf('clock.example', at, [ad('32')], { pages: ['320000001'] });
    for (const observation of [...chunks, end]) {
      await expect(intake.submit(observation)).rejects.toThrow(what);
    }
    expect(await eventStore.head()).toBe(head);
  });
});

describe('staged parts of scans without an end', () => {
  it('are retained for 30 days, and deleted after that', async () => {
    const scans = ['waits.example', 'given-up.example'].map((domain, at) =>
      scanOf(domain, '2026-05-02T10:00:00Z', [ad(`35${at}`)], { pages: [`35000000${at}`] }),
    );
    for (const { chunks } of scans) await intake.submit(chunks[0]);
    const [recent, abandoned] = scans.map(({ end }) => end);
    const database = openPool(databaseUrl, 1);
    await database.query(
      `update ingest.staged_chunk set staged_at = now() - interval '31 days' where scan_id = $1`,
      [abandoned?.scan_id],
    );
    await database.end();
    await intake.deleteExpired();
    expect(await intake.submit(recent)).toMatchObject({ totals: { seen: 1 } });
    await expect(intake.submit(abandoned)).rejects.toThrow('only 0 have arrived');
  });
});

describe('working tables', () => {
  it('are restored from the log after they were dropped', async () => {
    const database = openPool(databaseUrl, 1);
    const { rows: before } = await database.query('select ad_id, known from ingest.ad order by ad_id');
    const { rows: owners } = await database.query('select * from ingest.ad_owner order by ad_id');
    await database.query('drop schema ingest cascade');
    const again = await openIntake({ databaseUrl, eventStoreUrl });
    expect((await database.query('select ad_id, known from ingest.ad order by ad_id')).rows).toEqual(before);
    expect((await database.query('select * from ingest.ad_owner order by ad_id')).rows).toEqual(owners);
    await again[Symbol.asyncDispose]();
    await database.end();
    const head = await eventStore.head();
    await submitScan('large.example', '2026-05-04T10:00:00Z', [], { pages: ['710000001'] });
    expect(await eventStore.head()).toBe(head);
  });
});
