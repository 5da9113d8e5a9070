import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { ad } from '#tests/dsl/scans.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

/** Tests late links of pages (rules 9 and 11). */

let stack: IntakeStack;
beforeAll(async () => {
  stack = await openIntakeStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const at = (day: number, hour = 10): string =>
  `2026-05-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00.000Z`;

const scan = async (domain: string, day: number, pages: readonly string[], hour?: number): Promise<void> => {
  await stack.intake.submit(scanOf(domain, at(day, hour), [], { pages }).end);
};

const link = async (domain: string, page_id: string, day: number, linked = true, intake?: Intake) =>
  (intake ?? stack.intake).submit({
    type: 'social_page.link',
    brand_domain: domain,
    page_id,
    page_name: null,
    observed_at: at(day, 1),
    role: 'OFFICIAL',
    confidence: 0.9,
    linked,
  });

/** Reliability of scans by day and hour. */
const reliability = async (domain: string): Promise<Record<string, boolean>> => {
  const scans: Record<string, boolean> = {};
  for await (const event of stack.eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf(domain)))) {
    if (event.type !== 'ScanRecorded' && event.type !== 'ScanCorrected') continue;
    const hour = event.data.observed_at.slice(8, 13);
    scans[hour] = event.data.reliable;
    if (event.type === 'ScanCorrected' && event.data.no_look) delete scans[hour];
  }
  return scans;
};

/** Number of pages in use: a scan concerns all brands of its pages, so tests share none. */
let pagesUsed = 500_000_000;
const newPage = (): string => String((pagesUsed += 1));

describe('a link that arrives after scans of later days', () => {
  it('makes days unreliable whose scans did not cover the page, from its own day on', async () => {
    const domain = 'late-link.example';
    const [own, other] = [newPage(), newPage()];
    for (const day of [2, 3, 4]) await scan(domain, day, [own]);
    await scan(domain, 4, [other], 12);
    expect(await reliability(domain)).toEqual({ '02T10': true, '03T10': true, '04T10': true, '04T12': true });
    expect(await link(domain, other, 3)).toMatchObject({ events: 3 });
    expect(await reliability(domain)).toEqual({
      '02T10': true,
      '03T10': false,
      '04T10': false,
      '04T12': true,
    });
    expect(await link(domain, other, 3), 'observed again').toMatchObject({ events: 0 });
  });

  it('needs its page only until the link ends, in any order of arrival', async () => {
    const days = [2, 3, 4, 5];
    const [own, other] = [newPage(), newPage()];
    const orders = [
      [1, 2, 3],
      [3, 2, 1],
      [2, 3, 1],
    ];
    for (const [index, order] of orders.entries()) {
      const domain = `order-${index}.example`;
      for (const day of days) await scan(domain, day, [own]);
      // Begins on day 2, observed on day 3, ends on day 5.
      for (const step of order) {
        await link(domain, other, step === 3 ? 5 : step + 1, step !== 3);
      }
      expect(await reliability(domain), `order ${order.join()}`).toEqual({
        '02T10': false,
        '03T10': false,
        '04T10': false,
        '05T10': true,
      });
    }
  });

  it('counts a scan for another brand as a look at the brand', async () => {
    const domain = 'linked.example';
    const page = newPage();
    await scan('scanned.example', 3, [page]);
    await scan('scanned.example', 5, [page]);
    expect(await link(domain, page, 4), 'registers the brand').toMatchObject({ events: 3 });
    expect(await reliability(domain)).toEqual({ '05T10': true });
    expect(await link(domain, page, 2), 'an older link').toMatchObject({ events: 2 });
    expect(await reliability(domain)).toEqual({ '03T10': true, '05T10': true });
  });

  it('takes away the days of scans for another brand, when the link had ended before them', async () => {
    const [domain, page] = ['unlinked.example', newPage()];
    await link(domain, page, 1);
    await scan('scanned-too.example', 3, [page]);
    await scan('scanned-too.example', 5, [page]);
    await scan(domain, 6, [newPage()]);
    expect(await reliability(domain)).toEqual({ '03T10': true, '05T10': true, '06T10': false });
    expect(await link(domain, page, 4, false)).toMatchObject({ events: 3 });
    expect(await reliability(domain)).toEqual({ '03T10': true, '06T10': true });
    expect(await link(domain, page, 4, false), 'observed again').toMatchObject({ events: 0 });
    expect(await link(domain, page, 5), 'linked again').toMatchObject({ events: 3 });
    expect(await reliability(domain)).toEqual({ '03T10': true, '05T10': true, '06T10': false });
  });

  it('keeps the day of a scan for another brand that covered a live ad, when the link had ended', async () => {
    const [domain, page] = ['unlinked-ad.example', newPage()];
    await link(domain, page, 1);
    const shown = [ad(91, { page_id: page, link_url: `https://${domain}/`, is_active: true })];
    const { chunks, end } = scanOf(domain, at(2), shown, { pages: [page] });
    for (const chunk of chunks) await stack.intake.submit(chunk);
    await stack.intake.submit(end);
    await scan('scanned-three.example', 3, [page]);
    await link(domain, page, 2, false);
    expect(await reliability(domain)).toEqual({ '02T10': true, '03T10': false });
    const [ended] = shown.map((one) => ({ ...one, is_active: false }));
    const late = scanOf('scanned-three.example', at(2, 12), ended ? [ended] : [], { pages: [page] });
    for (const chunk of late.chunks) await stack.intake.submit(chunk);
    await stack.intake.submit(late.end);
    // The scan of 12:00 covers no linked page, so it does not count as reliable (rule 9).
    expect(await reliability(domain), 'the ad had ended').toEqual({ '02T10': true, '02T12': false });
  });

  it('corrects the same days after the working tables were dropped', async () => {
    const domain = 'rebuilt.example';
    const [own, page] = [newPage(), newPage()];
    await scan(domain, 2, [own]);
    await scan(domain, 4, [own]);
    await link(domain, page, 3);
    await link(domain, page, 5, false);
    const database = openPool(stack.databaseUrl, 1);
    await database.query('drop schema ingest cascade');
    await database.end();
    await using intake = await openIntake(stack);
    expect(await link(domain, page, 1, true, intake)).toMatchObject({ events: 2 });
    expect(await reliability(domain)).toEqual({ '02T10': false, '04T10': false });
    await intake.submit(scanOf(domain, at(4, 12), [], { pages: [page] }).end);
    expect(await reliability(domain)).toEqual({ '02T10': false, '04T10': false, '04T12': true });
  });

  it('leaves days alone that lie more than 60 days before the newest scan', async () => {
    const domain = 'ancient.example';
    const [own, other, page_id] = [newPage(), newPage(), newPage()];
    await stack.intake.submit(scanOf(domain, '2026-02-01T10:00:00Z', [], { pages: [own] }).end);
    await scan(domain, 2, [own]);
    expect(await link(domain, other, 1)).toMatchObject({ events: 2 });
    const old = { type: 'social_page.link', brand_domain: domain, page_id, page_name: null };
    const claim = { role: 'OFFICIAL', confidence: 0.9, linked: true };
    const outcome = await stack.intake.submit({ ...old, ...claim, observed_at: '2026-01-01T00:00:00Z' });
    expect(outcome).toMatchObject({ events: 1 });
    expect(await reliability(domain)).toEqual({ '01T10': true, '02T10': false });
  });
});
