import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { adLibrary } from '#domain/corpus/ad-library/decider.ts';
import type { AdState } from '#domain/corpus/ad-library/state.ts';
import { brandIdOf } from '#domain/ids.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { ad } from '#tests/dsl/scans.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

/** Tests late scans after tables were folded again from the log (rules 4, 9 and 11). */

let stack: IntakeStack;
beforeAll(async () => {
  stack = await openIntakeStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const DOMAIN = 'late.example';
const [OWN, OTHER] = ['600000001', '600000002'];
const at = (day: number, hour = 10): string => `2026-05-0${day}T${String(hour).padStart(2, '0')}:00:00.000Z`;

const scan = async (
  intake: Intake,
  domain: string,
  time: string,
  ads: readonly ObservedAd[],
  page: string | null,
  complete = true,
): Promise<void> => {
  const { chunks, end } = scanOf(domain, time, ads, { pages: page === null ? [] : [page], complete });
  for (const chunk of chunks) await intake.submit(chunk);
  await intake.submit(end);
};

const folded = async (): ReturnType<typeof openIntake> => {
  const database = openPool(stack.databaseUrl, 1);
  await database.query('drop schema ingest cascade');
  await database.end();
  return await openIntake(stack);
};

const eventsOf = async (domain: string): Promise<AdLibraryEvent[]> => {
  const events: AdLibraryEvent[] = [];
  const stream = adLibraryStream(brandIdOf(domain));
  for await (const event of stack.eventStore.read<AdLibraryEvent>(stream)) events.push(event);
  return events;
};

const adsOf = async (domain: string): Promise<readonly AdState[]> => [
  ...(await eventsOf(domain)).reduce(adLibrary.evolve, adLibrary.initial).ads.values(),
];

describe('after the working tables were folded from the log', () => {
  it('a late scan knows which fields the scan after it left blank', async () => {
    const page_id = OWN;
    const shown = (fields: Partial<ObservedAd>) => [ad(71, { page_id, is_active: true, ...fields })];
    await scan(stack.intake, DOMAIN, at(1), shown({ body: 'One', started_on: '2026-05-01' }), OWN);
    await scan(stack.intake, DOMAIN, at(4), shown({}), OWN);
    await using intake = await folded();
    await scan(intake, DOMAIN, at(2), shown({ body: 'Two', started_on: '2026-05-02' }), OWN);
    expect(await adsOf(DOMAIN)).toMatchObject([{ content: { body: 'Two' }, started_on: '2026-05-02' }]);
    await using again = await folded();
    await scan(again, DOMAIN, at(3), shown({ started_on: '2026-05-03' }), OWN);
    expect(await adsOf(DOMAIN)).toMatchObject([{ content: { body: 'Two' }, started_on: '2026-05-03' }]);
  });

  it('a scan that had not looked at the brand becomes a look when its page is linked again', async () => {
    const domain = 'linked-again.example';
    const link = (intake: Intake, day: number, linked: boolean) =>
      intake.submit({
        type: 'social_page.link',
        brand_domain: domain,
        page_id: OTHER,
        page_name: null,
        observed_at: at(day, 1),
        role: 'OFFICIAL',
        confidence: 0.9,
        linked,
      });
    await link(stack.intake, 1, true);
    await scan(stack.intake, 'scanned-for-another.example', at(5), [], OTHER);
    await link(stack.intake, 3, false);
    await using intake = await folded();
    expect(await link(intake, 2, false), 'still no look').toMatchObject({ events: 1 });
    expect(await link(intake, 4, true)).toMatchObject({ events: 2 });
    const said = (await eventsOf(domain)).map(({ type, data }) => [type, 'no_look' in data]);
    expect(said).toEqual([
      ['ScanRecorded', false],
      ['ScanCorrected', true],
      ['ScanCorrected', false],
    ]);
  });
});

describe('a late scan decides again whether ads are news (rule 3): those', () => {
  const linkPage = (domain: string, page_id: string) =>
    stack.intake.submit({
      type: 'social_page.link',
      brand_domain: domain,
      page_id,
      page_name: null,
      observed_at: '2026-04-30T00:00:00Z',
      role: 'OFFICIAL',
      confidence: 0.9,
      linked: true,
    });
  const newsOf = async (domain: string, adId: string) => {
    const news = new Map<string, number>();
    for (const { type, data } of await eventsOf(domain)) {
      if (type === 'ScanRecorded' || type === 'ScanCorrected') {
        news.set(data.observed_at.slice(8, 10), data.totals.news);
      }
    }
    const found = (await adsOf(domain)).find(({ ad_id }) => ad_id === adId);
    return { novelty: found?.novelty, days: Object.fromEntries([...news].filter(([, count]) => count > 0)) };
  };
  const shownOn = (number: number, page_id: string, day: number) =>
    ad(number, { page_id, is_active: true, started_on: `2026-05-0${day}` });

  it('of a brand other than the one that it searched for', async () => {
    const page = '600000011';
    const [first, second] = [shownOn(81, page, 1), shownOn(82, page, 3)];
    await linkPage('searched-for-another.example', page);
    await scan(stack.intake, 'searching.example', at(5), [second], null, false);
    expect(await newsOf('searched-for-another.example', second.ad_id)).toEqual({
      novelty: 'baseline',
      days: {},
    });
    await scan(stack.intake, 'searching.example', at(1), [first], null);
    expect(await newsOf('searched-for-another.example', second.ad_id)).toEqual({
      novelty: 'news',
      days: { '05': 1 },
    });
  });

  it('of a page that it is the first to show', async () => {
    const [domain, page] = ['meets-sooner.example', '600000012'];
    const [first, second] = [shownOn(83, page, 1), shownOn(84, page, 3)];
    await scan(stack.intake, domain, at(3), [], null);
    await scan(stack.intake, domain, at(5), [second], null);
    expect(await newsOf(domain, second.ad_id)).toEqual({ novelty: 'baseline', days: {} });
    await scan(stack.intake, domain, at(1), [first], null, false);
    expect(await newsOf(domain, second.ad_id)).toEqual({ novelty: 'news', days: { '05': 1 } });
  });
});
