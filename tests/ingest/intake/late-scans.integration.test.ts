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

/** Late scans decided from working tables that were folded again from the log (rules 4, 9 and 11). */

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
  page: string,
): Promise<void> => {
  const { chunks, end } = scanOf(domain, time, ads, { pages: [page] });
  for (const chunk of chunks) await intake.submit(chunk);
  await intake.submit(end);
};

/** Drops the working tables, and opens an intake that folds them from the log. */
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
