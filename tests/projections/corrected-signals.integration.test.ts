import { describe, it } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { SignalKind } from '#contracts/values/signals.ts';
import { signals } from '#projections/signals/project.ts';
import { listBrandSignals } from '#projections/signals/read.ts';
import { SIGNAL_COLUMNS, type SignalRow, summaryOf } from '#projections/sql/json.ts';
import { given } from '../dsl/projections.ts';
import { correctedAds, scanOf } from './fixtures/corrected-ads.ts';
import { at, idOf, link } from './fixtures/network-events.ts';

const idsOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `90000000${String(n).padStart(2, '0')}`);
const started = (brand: string, day: number) =>
  ({ kind: 'started', scan_id: scanOf(brand, day), observed_at: at(day) }) as const;

const shownOf = (brand: string) => async (db: ReadDatabase) =>
  (await listBrandSignals(db, idOf(brand), { from: '2026-01-01', to: '2026-03-01' }, SignalKind.options))
    .map(({ date, kind, figures }) => `${date} ${kind} ${figures.items}`)
    .toSorted();
const markedOf = async (db: ReadDatabase) => {
  const rows = await db.query<SignalRow>({
    sql: `select ${SIGNAL_COLUMNS} from signals.signal s where s.brand_id = $1 order by s.date, s.kind`,
    values: [idOf('a')],
  });
  return rows.map((row) => `${row.date} ${row.kind} ${row.correction}: ${summaryOf(row)}`);
};

describe('signals of corrected days', () => {
  it('leave withdrawn items out, and count added ones on their own day', async () => {
    const story = correctedAds(['a', 'b']);
    const ids = idsOf(3);
    for (const id of ids) story.start('a', id, 6);
    story.scan('a', 6, { active: 3, news: 3 });
    const [first = '', second = ''] = ids;
    story.correct(
      first,
      4,
      { first_seen_at: at(4) },
      { withdrawn: [started('a', 6)], added: [started('a', 4)] },
    );
    story.correct(second, 4, { novelty: 'baseline', first_seen_at: at(4) }, { withdrawn: [started('a', 6)] });
    await given(story.events)
      .into(signals)
      .shows(shownOf('a'), ['2026-01-04 ads_started 1', '2026-01-06 ads_started 1']);
    await given(story.events)
      .into(signals)
      .shows(markedOf, [
        '2026-01-04 ads_started added: 1 ad started.',
        '2026-01-06 ads_started changed: 1 ad started.',
      ]);
  });

  it('stay and are marked when all that was reported is withdrawn', async () => {
    const story = correctedAds(['a', 'b']);
    const ids = idsOf(2);
    for (const id of ids) story.start('a', id, 6);
    story.scan('a', 6, { active: 2, news: 2 });
    for (const id of ids)
      story.correct(id, 4, { novelty: 'baseline', first_seen_at: at(4) }, { withdrawn: [started('a', 6)] });
    await given(story.events).into(signals).shows(shownOf('a'), []);
    await given(story.events)
      .into(signals)
      .shows(markedOf, [
        '2026-01-06 ads_started withdrawn: Withdrawn: 2 ads started. A scan that arrived late showed otherwise.',
      ]);
  });

  it('stay and are marked when a sale or a refreshed ad is withdrawn', async () => {
    const story = correctedAds(['a', 'b']);
    const ids = idsOf(3);
    for (const id of ids) story.start('a', id, 6, {}, { body: 'Sale: 20 % off' });
    story.scan('a', 6, { active: 3, news: 3 });
    const [first = ''] = ids;
    story.correct(first, 4, { novelty: 'baseline', first_seen_at: at(4) }, { withdrawn: [started('a', 6)] });
    await given(story.events)
      .into(signals)
      .shows(markedOf, [
        '2026-01-06 ads_started changed: 2 ads started.',
        '2026-01-06 sale withdrawn: Withdrawn: 3 ads with sale copy started. A scan that arrived late showed otherwise.',
      ]);
  });

  it('stay and are marked when a late scan showed a landing page or an unlinked page before', async () => {
    const [first = '', second = ''] = idsOf(2);
    const story = correctedAds(['a']);
    story.events.push(link('a', '200000001'));
    story.scan('a', 3);
    for (const [id, page] of [
      [first, '200000002'],
      [second, '200000003'],
    ] as const)
      story.start('a', id, 6, { page_id: page }, { link_url: `https://shop.example/${page}` });
    story.scan('a', 6, { active: 2, news: 2 });
    const met = 'Ads led to 2 landing pages not seen before.';
    const pages =
      "Ads were first seen on 2 pages that are a creator's, a partner's or not linked with the brand.";
    const others = async (db: ReadDatabase) =>
      (await markedOf(db)).filter((line) => !line.includes('ads_started'));
    await given(story.events)
      .into(signals)
      .shows(others, [
        `2026-01-06 new_landing_page null: ${met}`,
        `2026-01-06 new_whitelisting_pair null: ${pages}`,
      ]);
    story.correct(
      first,
      5,
      { first_seen_at: at(5) },
      { withdrawn: [started('a', 6)], added: [started('a', 5)] },
    );
    await given(story.events)
      .into(signals)
      .shows(others, [
        '2026-01-05 new_landing_page added: Ads led to 1 landing page not seen before.',
        `2026-01-05 new_whitelisting_pair added: ${pages.replace('2 pages that are', '1 page that is')}`,
        '2026-01-06 new_landing_page changed: Ads led to 1 landing page not seen before.',
        `2026-01-06 new_whitelisting_pair changed: ${pages.replace('2 pages that are', '1 page that is')}`,
      ]);
    story.correct(second, 4, { novelty: 'baseline', first_seen_at: at(4) }, { withdrawn: [started('a', 6)] });
    story.correct(first, 4, { novelty: 'baseline', first_seen_at: at(4) }, { withdrawn: [started('a', 5)] });
    const end = ' A scan that arrived late showed otherwise.';
    await given(story.events)
      .into(signals)
      .shows(others, [
        `2026-01-06 new_landing_page withdrawn: Withdrawn: ${met}${end}`,
        `2026-01-06 new_whitelisting_pair withdrawn: Withdrawn: ${pages}${end}`,
      ]);
  });

  it('are marked when a late scan of the days before makes a page no news', async () => {
    const [id = ''] = idsOf(1);
    const story = correctedAds(['a']);
    story.events.push(link('a', '200000001'));
    story.scan('a', 3);
    story.start('a', id, 10, { novelty: 'baseline', page_id: '200000002', started_on: '2026-01-05' });
    story.scan('a', 10, { active: 1 });
    await given(story.events).into(signals).shows(shownOf('a'), ['2026-01-10 new_whitelisting_pair 1']);
    story.scan('a', 9, {}, true);
    await given(story.events).into(signals).shows(shownOf('a'), []);
    await given(story.events)
      .into(signals)
      .shows(
        async (db) => (await markedOf(db)).map((line) => line.split(':')[0]),
        ['2026-01-10 new_whitelisting_pair withdrawn'],
      );
  });

  it('leave a withdrawn item out for the brand that reported it, also after the ad moved', async () => {
    const story = correctedAds(['a', 'b']);
    for (const id of idsOf(2)) story.start('a', id, 6);
    const [first = ''] = idsOf(1);
    story.move(first, 7, 'b').correct(first, 4, {}, { withdrawn: [started('a', 6)] });
    await given(story.events).into(signals).shows(shownOf('a'), ['2026-01-06 ads_started 1']);
    await given(story.events).into(signals).shows(shownOf('b'), []);
  });

  it('compare corrected figures of scans, including those of a late scan', async () => {
    const ramps = ['2026-01-12 ramp 40'];
    const inOrder = correctedAds(['a']).scan('a', 5, { active: 20 }).scan('a', 12, { active: 40 });
    const late = correctedAds(['a']).scan('a', 12, { active: 40 }).scan('a', 5, { active: 20 }, true);
    const corrected = correctedAds(['a'])
      .scan('a', 5, { active: 40 })
      .scan('a', 12, { active: 40 })
      .correctScan('a', 5, { active: 20 });
    for (const { events } of [inOrder, late, corrected])
      await given(events).into(signals).shows(shownOf('a'), ramps);
    const ramp = 'Active ads went from 20 to 40 in 7 days.';
    await given(inOrder.events)
      .into(signals)
      .shows(markedOf, [`2026-01-12 ramp null: ${ramp}`]);
    for (const { events } of [late, corrected])
      await given(events)
        .into(signals)
        .shows(markedOf, [`2026-01-12 ramp changed: ${ramp}`]);
    const undone = inOrder.correctScan('a', 12, { active: 21 });
    await given(undone.events).into(signals).shows(shownOf('a'), []);
  });

  it('compare no day that a correction makes unreliable', async () => {
    const { events } = correctedAds(['a'])
      .scan('a', 5, { active: 20 })
      .scan('a', 12, { active: 40 })
      .correctScan('a', 5, { active: 20 }, false);
    await given(events).into(signals).shows(shownOf('a'), []);
  });

  it('count an ad for its present brand from the move on, and report no shift of formats by moves', async () => {
    const story = correctedAds(['a', 'b']);
    const ids = idsOf(60);
    for (const id of ids.slice(0, 40)) story.start('a', id, 2, { novelty: 'baseline' }, { format: 'image' });
    story.scan('a', 2, { active: 40 });
    for (const id of ids.slice(0, 20)) story.move(id, 29, 'b');
    for (const id of ids.slice(40)) story.start('a', id, 30, { format: 'video' }, { format: 'video' });
    story.scan('a', 30, { active: 40 });
    const shifts = async (db: ReadDatabase) =>
      (
        await listBrandSignals(db, idOf('a'), { from: '2026-01-30', to: '2026-01-30' }, ['format_mix_shift'])
      ).map(({ figures: { format, before, after } }) => [format, before, after]);
    await given(story.events).into(signals).shows(shifts, []);
  });
});
