import { describe, expect, test } from 'vitest';
import { expectedFigures } from './model.ts';
import { at, dateOf, link, profile, scan, shown, worldWith } from './sketch.ts';
import type { AdFigures, WorldObservation } from './world.ts';

/** The figures were worked out by hand, for each rule of services/domain/README.md. */

const figuresOf = (...observations: readonly WorldObservation[]) =>
  expectedFigures(worldWith(...observations));
const a1 = (...observations: readonly WorldObservation[]): AdFigures => {
  const ad = figuresOf(...observations).ads['a1'];
  if (!ad) throw new Error('no scan of the world shows ad a1');
  return ad;
};
const dayOfB1 = (day: number, ...observations: readonly WorldObservation[]) =>
  figuresOf(...observations).days[`b1.example ${dateOf(day)}`];
const seen = scan('s1', at(0), [shown()]);
const unseen = (id: string, time: string, fields = {}) => scan(id, time, [], fields);

describe('rule 1, absences', () => {
  test('an ad absent from one complete scan is missing and was last seen before it', () => {
    expect(a1(seen, unseen('s2', at(1)))).toMatchObject({
      status: 'missing',
      last_seen: at(0),
      inactive_since: null,
    });
  });

  test('an ad absent from two complete scans 20 hours apart is inactive since the second', () => {
    const scans = [seen, unseen('s2', at(1)), unseen('s3', at(2, '06:00'))];
    expect(a1(...scans)).toMatchObject({ status: 'inactive', inactive_since: at(2, '06:00') });
    expect(dayOfB1(1, ...scans)).toEqual({ active: 1, new: 0, retired: 0, reliable: true });
    expect(dayOfB1(2, ...scans)).toEqual({ active: 0, new: 0, retired: 1, reliable: true });
  });

  test('absences less than 20 hours apart wait for one that is far enough from the first', () => {
    const near = [seen, unseen('s2', at(1)), unseen('s3', at(2, '05:59'))];
    expect(a1(...near).status).toBe('missing');
    expect(a1(...near, unseen('s4', at(2, '07:00'))).inactive_since).toBe(at(2, '07:00'));
  });

  test.each([
    ['is partial', { complete: false }],
    ['does not name its page', { pages: ['P2'] }],
    ['requests another country', { countries: ['CA'] }],
  ])('a scan that %s says nothing about the ad', (_, fields) => {
    expect(a1(seen, unseen('s2', at(1), fields), unseen('s3', at(2), fields)).status).toBe('active');
  });

  test('an ad seen in two countries is inactive only after two absences in each', () => {
    const inCanada = { countries: ['CA'] };
    const both = [seen, scan('s2', at(0, '11:00'), [shown()], inCanada)];
    const inUs = [unseen('s3', at(1)), unseen('s4', at(2))];
    expect(a1(...both, ...inUs).status, 'Canada not looked at').toBe('active');
    const oneInCanada = [...both, ...inUs, unseen('s5', at(3), inCanada)];
    expect(a1(...oneInCanada).status).toBe('missing');
    expect(a1(...oneInCanada, unseen('s6', at(4), inCanada))).toMatchObject({
      status: 'inactive',
      inactive_since: at(4),
    });
  });

  test('a sighting in any country takes back the absences of all', () => {
    const inCanada = scan('s3', at(1, '11:00'), [shown()], { countries: ['CA'] });
    expect(a1(seen, unseen('s2', at(1)), inCanada, unseen('s4', at(2))).status).toBe('active');
  });

  test('a scan of all countries covers each of them, and only such a scan covers its own pair', () => {
    const all = { countries: ['ALL'] };
    expect(a1(seen, unseen('s2', at(1), all), unseen('s3', at(2), all)).status).toBe('inactive');
    const seenByAll = scan('s1', at(0), [shown()], all);
    expect(a1(seenByAll, unseen('s2', at(1)), unseen('s3', at(2))).status).toBe('active');
  });

  test('a scan of the same time as the last sighting does not count as an absence', () => {
    expect(a1(seen, unseen('s2', at(0))).status).toBe('active');
    expect(a1(unseen('s0', at(0)), seen).status).toBe('active');
  });

  test('an ad without a page is never absent', () => {
    const pageless = scan('s1', at(0), [shown('a1', { page: null })]);
    expect(a1(pageless, unseen('s2', at(1)), unseen('s3', at(2))).status).toBe('active');
  });
});

describe('rules 1 and 7, ads shown as ended', () => {
  const shownLater = (fields: object) => a1(seen, scan('s2', at(1), [shown('a1', fields)]));
  test.each([
    ['its flag says so', { isActive: false }],
    ['its flag is unknown and its stop date not after the scan', { isActive: null, stoppedOn: dateOf(1) }],
  ])('an ad is inactive when %s', (_, fields) => {
    expect(shownLater(fields)).toMatchObject({
      status: 'inactive',
      inactive_since: at(1),
      last_seen: at(0),
    });
  });

  test.each([
    ['its stop date is after the scan', { isActive: null, stoppedOn: dateOf(2) }],
    ['it is flagged active, also with a stop date', { isActive: true, stoppedOn: dateOf(1) }],
  ])('an ad runs when %s', (_, fields) => {
    expect(shownLater(fields)).toMatchObject({ status: 'active', last_seen: at(1), stopped_on: null });
  });

  test('a start or stop date more than a day after the scan is unknown', () => {
    const dates = (days: number) => {
      const fields = { isActive: false, startedOn: dateOf(days), stoppedOn: dateOf(days) };
      const { started_on, stopped_on } = a1(scan('s1', at(0), [shown('a1', fields)])) ?? {};
      return [started_on, stopped_on];
    };
    expect(dates(1)).toEqual([dateOf(1), dateOf(1)]);
    expect(dates(2)).toEqual([null, null]);
  });

  test('a stop date before the start date is unknown', () => {
    const fields = { isActive: false, startedOn: dateOf(0), stoppedOn: dateOf(-1) };
    const ad = a1(scan('s1', at(0), [shown('a1', fields)]));
    expect(ad).toMatchObject({ started_on: dateOf(0), stopped_on: null });
  });

  test('an inactive ad keeps the time of its stop, and gains the stop date that a later scan shows', () => {
    const ended = (id: string, day: number, stoppedOn: string | null) =>
      scan(id, at(day), [shown('a1', { isActive: false, stoppedOn })]);
    expect(a1(seen, ended('s2', 2, null), ended('s3', 3, dateOf(1)), ended('s4', 4, null))).toMatchObject({
      inactive_since: at(2),
      stopped_on: dateOf(1),
    });
  });
});

describe('rule 2, returns', () => {
  test('an inactive ad that is shown running is active again, without a stop', () => {
    const gone = [seen, unseen('s2', at(1)), unseen('s3', at(2))];
    const back = scan('s4', at(3), [shown()]);
    expect(a1(...gone, back)).toMatchObject({
      status: 'active',
      first_seen: at(0),
      last_seen: at(3),
      inactive_since: null,
      novelty: 'baseline',
    });
    expect(dayOfB1(3, ...gone, back)).toMatchObject({ active: 1, new: 0, retired: 0 });
  });
});

describe('rule 3, novelty', () => {
  const later = (startedOn: string | null, fields = {}) =>
    scan('s5', at(5), [shown('a1', { startedOn })], fields);
  const before = unseen('s1', at(3));

  test('the first complete look at a page in a country is its baseline', () => {
    expect(a1(later(dateOf(5))).novelty).toBe('baseline');
    expect(a1(unseen('s1', at(3), { complete: false }), later(dateOf(5))).novelty).toBe('baseline');
    expect(a1(unseen('s1', at(3), { countries: ['CA'] }), later(dateOf(5))).novelty).toBe('baseline');
    expect(a1(unseen('s1', at(3), { pages: ['P2'] }), later(dateOf(5))).novelty).toBe('baseline');
  });

  test('an ad that began since one day before the last look is news, an older one late', () => {
    expect(a1(before, later(dateOf(2))).novelty).toBe('news');
    expect(a1(before, later(dateOf(1))).novelty).toBe('late');
    expect(a1(before, later(null)).novelty).toBe('late');
    expect(a1(before, unseen('s2', at(4)), later(dateOf(2))).novelty).toBe('late');
  });

  test('the look of any brand and of any country of the scan counts', () => {
    expect(a1(unseen('s1', at(3), { brand: 'b2.example' }), later(dateOf(5))).novelty).toBe('news');
    expect(a1(before, later(dateOf(5), { countries: ['CA', 'US'] })).novelty).toBe('news');
    expect(a1(unseen('s1', at(3), { countries: ['ALL'] }), later(dateOf(5))).novelty).toBe('news');
    expect(a1(before, later(dateOf(5), { countries: ['ALL'] })).novelty).toBe('baseline');
  });

  test('a scan of the same time does not count as an earlier look', () => {
    expect(a1(unseen('s1', at(5)), later(dateOf(5))).novelty).toBe('baseline');
  });

  test('news counts as new on its day, a baseline and a late-seen ad do not', () => {
    expect(dayOfB1(5, before, later(dateOf(5)))).toMatchObject({ active: 1, new: 1 });
    expect(dayOfB1(5, before, later(dateOf(0)))).toMatchObject({ active: 1, new: 0 });
    expect(dayOfB1(5, later(dateOf(5)))).toMatchObject({ active: 1, new: 0 });
  });

  test('a page that searches do not name has its baseline in the search that first shows it', () => {
    const search = (id: string, day: number, ads = [shown('a2')], fields = {}) =>
      scan(id, at(day), ads, { pages: [], ...fields });
    const found = search('s5', 5, [shown('a1', { startedOn: dateOf(5) })]);
    expect(a1(found).novelty).toBe('baseline');
    expect(a1(search('s1', 3, []), found).novelty, 'the page was not met before').toBe('baseline');
    expect(a1(search('s1', 3), found).novelty).toBe('news');
    expect(a1(search('s1', 1), search('s2', 3, []), found).novelty, 'a search without ads').toBe('news');
    expect(a1(search('s1', 3, [shown('a2')], { brand: 'b2.example' }), found).novelty).toBe('baseline');
    expect(a1(search('s1', 3), { ...found, pages: ['P1'] }).novelty, 'named now').toBe('baseline');
  });

  test('ads without a page have one baseline for each scanned brand', () => {
    const pageless = (id: string, day: number, ad: string, brand = 'b1.example') =>
      scan(id, at(day), [shown(ad, { page: null, startedOn: dateOf(day) })], { pages: [], brand });
    expect(a1(pageless('s1', 3, 'a2'), pageless('s2', 5, 'a1')).novelty).toBe('news');
    expect(a1(pageless('s1', 3, 'a2', 'b2.example'), pageless('s2', 5, 'a1')).novelty).toBe('baseline');
  });

  test('a stop of an ad first met as ended counts only if the ad is news', () => {
    const ended = (startedOn: string) =>
      scan('s5', at(5), [shown('a1', { isActive: false, startedOn, stoppedOn: dateOf(5) })]);
    expect(dayOfB1(5, before, ended(dateOf(4)))).toMatchObject({ active: 0, new: 1, retired: 1 });
    expect(dayOfB1(5, before, ended(dateOf(0)))).toMatchObject({ active: 0, new: 0, retired: 0 });
  });
});

describe('rule 4, blanks and older values', () => {
  test('each field has the value of the latest scan that showed it', () => {
    const first = scan('s1', at(0), [shown('a1', { body: 'old', title: 'only', link: 'x.example/a' })]);
    const second = scan('s2', at(1), [shown('a1', { body: 'new', title: ' ', page: null, startedOn: null })]);
    for (const scans of [
      [first, second],
      [second, first],
    ])
      expect(a1(...scans)).toMatchObject({
        body: 'new',
        title: 'only',
        link: 'x.example/a',
        page: 'P1',
        started_on: dateOf(0),
      });
  });

  test('countries are those named by the ad, else that of a scan of one country', () => {
    const of = (countries: string[], named?: string[]) =>
      a1(scan('s1', at(0), [shown('a1', named ? { countries: named } : {})], { countries })).countries;
    expect(of(['CA'])).toEqual(['CA']);
    expect(of(['CA', 'US'])).toEqual([]);
    expect(of(['ALL'])).toEqual([]);
    expect(of(['CA', 'US'], ['GB'])).toEqual(['GB']);
    expect(a1(seen, scan('s2', at(1), [shown()], { countries: ['CA'] })).countries).toEqual(['CA', 'US']);
  });
});

describe('rule 9, reliable days', () => {
  const linked = [link(at(0, '01:00'), 'P1'), link(at(0, '01:00'), 'P2')];
  const ofP2 = (fields = {}) => unseen('s2', at(0, '12:00'), { pages: ['P2'], ...fields });

  test('complete scans for any brand together cover all linked pages', () => {
    expect(dayOfB1(0, ...linked, seen)?.reliable).toBe(false);
    expect(dayOfB1(0, ...linked, seen, ofP2({ brand: 'b2.example' }))?.reliable).toBe(true);
    expect(dayOfB1(0, ...linked, seen, ofP2({ complete: false }))?.reliable).toBe(false);
    expect(dayOfB1(1, ...linked, seen, unseen('s2', at(1), { pages: ['P2'] }))?.reliable).toBe(false);
  });

  test('linking a page makes later days need it, never earlier ones', () => {
    const scans = [link(at(0, '01:00'), 'P1'), seen, link(at(0, '20:00'), 'P2'), unseen('s2', at(1))];
    expect(dayOfB1(0, ...scans)?.reliable).toBe(true);
    expect(dayOfB1(1, ...scans)?.reliable).toBe(false);
    const unlinked = link(at(1, '01:00'), 'P2', 'b1.example', { linked: false });
    expect(dayOfB1(1, ...scans, unlinked)?.reliable).toBe(true);
  });

  test('a brand without linked pages needs a complete scan made for it', () => {
    expect(dayOfB1(0, seen)?.reliable).toBe(true);
    expect(dayOfB1(0, { ...seen, complete: false })?.reliable).toBe(false);
    const others = scan('s2', at(1), [shown()], { brand: 'b2.example' });
    expect(dayOfB1(1, seen, others)).toEqual({ active: 1, new: 0, retired: 0, reliable: false });
  });

  test('a day without an observation of the brand has no figures', () => {
    const others = scan('s2', at(1), [], { brand: 'b2.example', pages: ['P9'] });
    expect(dayOfB1(1, seen, others)).toBeUndefined();
  });
});

describe('rule 10, attribution', () => {
  const b2 = profile(at(0, '01:00'), 'b2.example');
  const brandOf = (...observations: readonly WorldObservation[]) => a1(...observations).brand;

  test('an ad belongs to the brand of its destination, else of its page, else of the first scan', () => {
    const to = (destination: string) => scan('s1', at(0), [shown('a1', { link: destination })]);
    expect(brandOf(seen)).toBe('b1.example');
    expect(brandOf(seen, link(at(1), 'P1', 'b2.example'))).toBe('b2.example');
    expect(brandOf(b2, to('shop.b2.example/a'))).toBe('b2.example');
    expect(brandOf(to('b2.example/a')), 'not registered').toBe('b1.example');
    expect(brandOf(to('notb2.example/a'), b2)).toBe('b1.example');
    expect(brandOf(to('b1.example/a'), link(at(1), 'P1', 'b2.example'))).toBe('b1.example');
  });

  test('a link registers the domain of its brand from its own time on, and an end of a link does not', () => {
    const first = scan('s1', at(0), [shown('a1', { link: 'b2.example/a', page: 'P2' })]);
    const next = scan('s2', at(2), [], { pages: [] });
    expect(brandOf(first, link(at(1), 'P1', 'b2.example'))).toBe('b2.example');
    expect(brandOf(first, link(at(1), 'P1', 'b2.example', { linked: false }))).toBe('b1.example');
    const { days } = figuresOf(first, next, link(at(1), 'P1', 'b2.example'));
    expect(days[`b1.example ${dateOf(0)}`]?.active).toBe(1);
    expect(days[`b1.example ${dateOf(2)}`]?.active).toBe(0);
  });

  test('of several links the one of highest confidence decides, then the order of brands', () => {
    const links = [link(at(1), 'P1', 'b2.example'), link(at(1), 'P1', 'b1.example', { confidence: 0.6 })];
    expect(brandOf(seen, ...links)).toBe('b2.example');
    expect(brandOf(seen, ...links, link(at(2), 'P1'))).toBe('b1.example');
    const ends = link(at(2), 'P1', 'b2.example', { linked: false });
    expect(brandOf(seen, ...links, ends)).toBe('b1.example');
  });

  test('an ad that moves counts for its new brand, and the move is not news', () => {
    const moved = scan('s2', at(1), [shown('a1', { link: 'b2.example/a' })]);
    const { brands, days } = figuresOf(b2, seen, moved);
    expect(brands['b1.example']).toEqual({ active: 0, missing: 0, inactive: 0, total: 0 });
    expect(brands['b2.example']).toEqual({ active: 1, missing: 0, inactive: 0, total: 1 });
    expect(days[`b1.example ${dateOf(0)}`]).toMatchObject({ active: 1 });
    expect(days[`b1.example ${dateOf(1)}`]).toMatchObject({ active: 0, retired: 0 });
    expect(days[`b2.example ${dateOf(1)}`]).toMatchObject({ active: 1, new: 0 });
  });

  test('a scan registers its domain after the scans of the same time with smaller ids', () => {
    const first = scan('s1', at(0), [shown('a1', { link: 'b2.example/a' })]);
    const registering = scan('s2', at(0), [], { brand: 'b2.example', pages: [] });
    const next = scan('s3', at(1), [shown('a1')]);
    const { days } = figuresOf(first, registering, next);
    expect(days[`b1.example ${dateOf(0)}`]?.active).toBe(1);
    expect(days[`b2.example ${dateOf(0)}`]?.active).toBe(1);
    const { days: sooner } = figuresOf({ ...first, id: 's2' }, { ...registering, id: 's1' }, next);
    expect(sooner[`b1.example ${dateOf(0)}`]?.active).toBe(0);
  });

  test('a link that arrives last decides from the time at which it was observed', () => {
    const scans = [seen, scan('s2', at(2), [shown()])];
    const { days } = figuresOf(...scans, link(at(1), 'P1', 'b2.example'));
    expect(days[`b1.example ${dateOf(0)}`]?.active).toBe(1);
    expect(days[`b1.example ${dateOf(2)}`]?.active).toBe(0);
    expect(days[`b2.example ${dateOf(2)}`]?.active).toBe(1);
  });
});

describe('rule 12, ages', () => {
  const daysOf = (...ads: readonly object[]) =>
    a1(...ads.map((fields, day) => scan(`s${day}`, at(day), [shown('a1', fields)]))).days_active;

  test('an age runs from the start, else the first sighting, to the stop, else the last sighting as running', () => {
    expect(daysOf({}, {}, {})).toBe(2);
    expect(daysOf({ startedOn: null }, { startedOn: null })).toBe(1);
    expect(daysOf({}, {}, { isActive: false })).toBe(1);
    expect(daysOf({}, {}, { isActive: false, stoppedOn: dateOf(2) })).toBe(2);
    expect(daysOf({ startedOn: '2026-03-01', isActive: false, stoppedOn: '2026-03-05' })).toBe(4);
  });

  test('an ad that was first met as ended has no age without a stop date', () => {
    expect(daysOf({ isActive: false })).toBeNull();
    expect(daysOf({ isActive: false }, {})).toBe(1);
  });
});
