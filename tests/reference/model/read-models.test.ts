import { describe, expect, test } from 'vitest';
import { expectedFigures } from '../model.ts';
import { at, dateOf, link, profile, scan, shown, worldWith } from '../sketch.ts';
import type { WorldObservation } from '../world.ts';

const figuresOf = (...observations: readonly WorldObservation[]) =>
  expectedFigures(worldWith(...observations));
const seen = scan('s1', at(0), [shown()]);
const unseen = (id: string, time: string, fields = {}) => scan(id, time, [], fields);

describe('freshness', () => {
  const freshnessOf = (...observations: readonly WorldObservation[]) =>
    figuresOf(...observations).freshness['b1.example'];

  test('a brand without a scan has none, and one with a partial scan no reliable time', () => {
    expect(freshnessOf(profile(at(0), 'b1.example'))).toBeUndefined();
    expect(freshnessOf({ ...seen, complete: false })).toEqual({
      as_of: at(0),
      last_reliable_at: null,
      next_due: '2026-04-09T10:00:00.000Z',
      freshness_tier: 'census',
    });
  });

  test('the last reliable scan is the last one by which a day is reliable', () => {
    expect(freshnessOf(seen, unseen('s2', at(1)))).toMatchObject({ last_reliable_at: at(1) });
    const links = [link(at(0, '01:00'), 'P1'), link(at(0, '01:00'), 'P2')];
    const ofP2 = unseen('s2', at(0, '12:00'), { pages: ['P2'] });
    expect(freshnessOf(...links, seen)).toMatchObject({ as_of: at(0), last_reliable_at: null });
    expect(freshnessOf(...links, seen, ofP2)).toMatchObject({ last_reliable_at: at(0, '12:00') });
    expect(freshnessOf(...links, seen, ofP2, unseen('s3', at(1)))).toMatchObject({
      as_of: at(1),
      last_reliable_at: at(0, '12:00'),
    });
  });

  test('a scan for another brand counts if it covers a linked page, not if it shows an ad', () => {
    const other = scan('s2', at(1), [shown()], { brand: 'b2.example' });
    expect(freshnessOf(seen, other)).toMatchObject({ as_of: at(0), last_reliable_at: at(0) });
    const linked = link(at(0, '01:00'), 'P1');
    expect(freshnessOf(linked, seen, other)).toMatchObject({ as_of: at(1), last_reliable_at: at(1) });
    expect(freshnessOf(linked, seen, { ...other, complete: false })).toMatchObject({ as_of: at(0) });
  });

  test('a scan of no page of the brand counts if only its page was missing on a day, and no later one', () => {
    const links = [link(at(0, '01:00'), 'P1'), link(at(0, '01:00'), 'P2')];
    const ended = link(at(0, '11:00'), 'P2', 'b1.example', { linked: false });
    const ofP2 = (id: string, time: string) => unseen(id, time, { pages: ['P2'], brand: 'b2.example' });
    expect(
      freshnessOf(...links, seen, ended, ofP2('s2', at(0, '12:00')), ofP2('s3', at(0, '14:00'))),
    ).toMatchObject({ last_reliable_at: at(0, '12:00') });
  });
});

describe('weeks', () => {
  const links = [link(at(3, '01:00'), 'P1'), link(at(3, '01:00'), 'P2')];
  const news = (id: string, day: number, fields = {}) =>
    scan(id, at(day), [shown(`a${day}`, { startedOn: dateOf(day) })], fields);
  const { weeks } = figuresOf(
    unseen('s1', at(0)),
    news('s2', 1),
    ...links,
    news('s3', 4),
    news('s4', 6, { pages: ['P1', 'P2'] }),
  );

  test('begin on Mondays, and sum new and retired ads of reliable days', () => {
    expect(weeks).toEqual({
      'b1.example 2026-03-09': { active: 2, new: 1, retired: 0, reliable_days: 2 },
      'b1.example 2026-03-16': { active: 2, new: 1, retired: 1, reliable_days: 1 },
    });
  });
});

describe('profiles', () => {
  const profileOf = (...observations: readonly WorldObservation[]) =>
    figuresOf(...observations).profiles['b1.example'];

  test('a brand that no scan looked at has no figures', () => {
    expect(profileOf(profile(at(0), 'b1.example'))).toEqual({
      as_of: { brands: null, days: null, weeks: null },
      new_7d: 0,
      new_30d: 0,
      retired_7d: 0,
      retired_30d: 0,
      avg_lifespan: null,
      last_ad_seen_on: null,
      countries: [],
    });
  });

  test('the last 7 days end with the day of the last look, also at the ad of another scan', () => {
    const news = scan('s2', at(2), [shown('a2', { startedOn: dateOf(2) })]);
    const days = [unseen('s1', at(0)), news];
    expect(profileOf(...days, unseen('s3', at(8)))).toMatchObject({ new_7d: 1, new_30d: 1 });
    const other = scan('s4', at(9), [shown('a2')], { brand: 'b2.example' });
    expect(profileOf(...days, unseen('s3', at(8)), other)).toMatchObject({
      as_of: { brands: at(9), days: at(9), weeks: at(9) },
      new_7d: 0,
      new_30d: 1,
      last_ad_seen_on: dateOf(9),
    });
  });

  test('ages of ended ads are averaged, and ads that are not inactive counted by country', () => {
    const older = { startedOn: '2026-03-07' };
    const ended = { isActive: false };
    const both = scan('s1', at(0), [shown('a1'), shown('a2', older), shown('a3')]);
    const last = scan('s2', at(1), [shown('a1', ended), shown('a2', { ...older, ...ended }), shown('a3')], {
      countries: ['CA'],
    });
    expect(profileOf(both, last)).toMatchObject({
      retired_7d: 2,
      avg_lifespan: 1.5,
      countries: [
        { country: 'CA', ads: 1 },
        { country: 'US', ads: 1 },
      ],
    });
  });
});

describe('the radar', () => {
  const radarOf = (...observations: readonly WorldObservation[]) => figuresOf(...observations).radar;
  const none = { brand: 'b1.example', to: null, from: null, basis: null, stopped_on: null };
  const before = unseen('s1', at(0));
  const to = (id: string, day: number, fields: object) =>
    scan(id, at(day), [shown('a1', { startedOn: dateOf(1), ...fields })]);

  test('shows the start of an ad that is news, and its stop by absence', () => {
    const news = to('s2', 1, { link: 'x.example/a' });
    expect(radarOf(before, news, unseen('s3', at(2)), unseen('s4', at(3)))).toEqual({
      [`a1 ad_started ${at(1)}`]: { ...none, to: 'x.example/a' },
      [`a1 ad_stopped ${at(3)}`]: { ...none, basis: 'absence' },
    });
    expect(radarOf(seen), 'a baseline').toEqual({});
  });

  test('shows a stop by the library with its date, also of an ad that is met as ended', () => {
    const ended = { isActive: false, stoppedOn: dateOf(1) };
    const stop = { ...none, basis: 'library', stopped_on: dateOf(1) };
    expect(radarOf(seen, to('s2', 2, ended))).toEqual({ [`a1 ad_stopped ${at(2)}`]: stop });
    expect(radarOf(before, to('s2', 2, ended))).toEqual({
      [`a1 ad_started ${at(2)}`]: none,
      [`a1 ad_stopped ${at(2)}`]: stop,
    });
  });

  test('shows another destination than the last one shown, unless the ad has stopped before', () => {
    const first = to('s1', 0, { link: 'x.example/a' });
    const hidden = to('s2', 1, { link: null });
    const ended = { isActive: false };
    const change = (day: number, fields: object = {}) => ({
      [`a1 destination_changed ${at(day)}`]: { ...none, to: 'y.example/b', from: 'x.example/a', ...fields },
    });
    expect(radarOf(first, hidden, to('s3', 2, { link: 'y.example/b' }))).toEqual(change(2));
    expect(radarOf(hidden, to('s3', 2, { link: 'y.example/b' })), 'the first destination').toEqual({});
    expect(Object.keys(radarOf(first, to('s3', 2, { link: 'y.example/b', ...ended })))).toEqual([
      `a1 destination_changed ${at(2)}`,
      `a1 ad_stopped ${at(2)}`,
    ]);
    const stopped = [first, to('s2', 1, { link: null, ...ended })];
    expect(Object.keys(radarOf(...stopped, to('s3', 2, { link: 'y.example/b', ...ended })))).toEqual([
      `a1 ad_stopped ${at(1)}`,
    ]);
    expect(radarOf(...stopped, to('s3', 2, { link: 'y.example/b' }))).toMatchObject(change(2));
  });

  test('shows an item for the brand that the ad had at the scan', () => {
    const moved = to('s3', 2, { link: 'b2.example/a' });
    const news = to('s2', 1, { link: 'x.example/a' });
    const items = radarOf(profile(at(0, '01:00'), 'b2.example'), before, news, moved);
    expect(Object.values(items).map(({ brand }) => brand)).toEqual(['b1.example', 'b2.example']);
  });
});

describe('signals', () => {
  const signalsOf = (...observations: readonly WorldObservation[]) => figuresOf(...observations).signals;
  const news = (ad: string) => shown(ad, { startedOn: dateOf(1) });

  test('group the items of the radar by brand, day and kind', () => {
    const both = scan('s2', at(1), [news('a1'), news('a2')]);
    const third = scan('s3', at(1, '12:00'), [news('a1'), news('a2'), news('a3')]);
    const stopped = scan('s4', at(2), [shown('a1', { isActive: false })]);
    expect(signalsOf(unseen('s1', at(0)), both, third, stopped)).toEqual({
      [`b1.example ${dateOf(1)} ads_started`]: { items: 3, observed_at: at(1, '12:00') },
      [`b1.example ${dateOf(2)} ads_stopped`]: { items: 1, observed_at: at(2) },
    });
  });

  test('show pages that are linked for the first time, after the first day on which any was', () => {
    const pages = [
      link(at(0), 'P1'),
      link(at(0, '12:00'), 'P2'),
      link(at(2), 'P3'),
      link(at(1), 'P1', 'b2.example'),
    ];
    const again = [link(at(3), 'P3', 'b1.example', { linked: false }), link(at(4), 'P3')];
    expect(signalsOf(...pages, ...again)).toEqual({
      [`b1.example ${dateOf(2)} new_linked_page`]: { items: 1, observed_at: at(2) },
    });
  });
});

describe('changes of copy', () => {
  const TEXTS = ['Shoes for runners', 'Boots against rain', 'Hats in all sizes'];
  const worded = (frame: string, texts = TEXTS) =>
    texts.map((text, index) => shown(`a${index + 1}`, { body: `${frame}${text}` }));
  const partial = (day: number, collector: string, ads: ReturnType<typeof worded>) =>
    scan(`s${day}`, at(day), ads, { complete: false, collector });
  const changesOf = (...observations: readonly WorldObservation[]) =>
    Object.fromEntries(
      Object.entries(figuresOf(...observations).changes).map(([day, { revised, reworded }]) => [
        day.replace('b1.example ', ''),
        `${revised} revised, ${reworded} reworded`,
      ]),
    );
  const plain = partial(0, 'c1', worded(''));
  const label = 'Sponsored: ';

  test("are the brand's when one collector shows them, and a label that another adds to most ads is not", () => {
    expect(changesOf(plain, partial(1, 'c1', worded(label)))).toEqual({
      [dateOf(1)]: '3 revised, 0 reworded',
    });
    expect(changesOf(plain, partial(1, 'c2', worded(label)))).toEqual({
      [dateOf(1)]: '0 revised, 3 reworded',
    });
  });

  test("are the brand's when one ad alone gains a label, and the collector's in another case", () => {
    const one = [...worded(label).slice(0, 1), ...worded('').slice(1)];
    expect(changesOf(plain, partial(1, 'c2', one))).toEqual({ [dateOf(1)]: '1 revised, 0 reworded' });
    const upper = worded(
      '',
      TEXTS.map((text, index) => (index === 0 ? text.toUpperCase() : text)),
    );
    expect(changesOf(plain, partial(1, 'c2', upper))).toEqual({ [dateOf(1)]: '0 revised, 1 reworded' });
  });

  test("are the brand's on an ad with other words or digits of its own", () => {
    const own = TEXTS.map((text, index) => (index === 0 ? `${text} 99` : text));
    expect(changesOf(plain, partial(1, 'c2', worded(label, own)))).toEqual({
      [dateOf(1)]: '1 revised, 2 reworded',
    });
  });

  test("are the collector's on an ad that missed the switch, since another collector showed its text last", () => {
    const missed = partial(1, 'c2', worded(label).slice(1));
    const later = partial(2, 'c2', worded(label));
    const expected = { [dateOf(1)]: '0 revised, 2 reworded', [dateOf(2)]: '0 revised, 1 reworded' };
    expect(changesOf(plain, missed, later)).toEqual(expected);
    expect(changesOf(later, missed, plain)).toEqual(expected);
    const blank = partial(1, 'c2', worded(label).with(0, shown('a1')));
    expect(changesOf(plain, blank, later)).toEqual(expected);
  });

  test('of an ended ad that is shown as ended again do not count', () => {
    const ended = worded('').map((ad) => ({ ...ad, isActive: false }));
    const other = worded('', ['New', 'Old', 'None']).map((ad) => ({ ...ad, isActive: false }));
    expect(changesOf(plain, partial(1, 'c1', ended), partial(2, 'c1', other))).toEqual({});
    expect(changesOf(plain, partial(1, 'c1', other))).toEqual({ [dateOf(1)]: '3 revised, 0 reworded' });
  });
});
