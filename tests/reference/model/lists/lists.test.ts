import { describe, expect, test } from 'vitest';
import { expectedFigures } from '../../model.ts';
import { comparedRisers } from './risers.ts';
import { at, dateOf, profile, scan, shown, worldWith } from '../../sketch.ts';
import type { WorldObservation } from '../../world.ts';

const figuresOf = (...observations: readonly WorldObservation[]) =>
  expectedFigures(worldWith(...observations));
const ended = { isActive: false };

describe('categories', () => {
  const profiles = [profile(at(0, '01:00'), 'b1.example'), profile(at(0, '02:00'), 'b2.example')];
  const ofFirst = scan('s1', at(1), [shown('a1'), shown('a2', ended)]);
  const ofSecond = scan('s2', at(2), [shown('a3', { page: 'P2' })], { brand: 'b2.example', pages: ['P2'] });

  test('sum up the brands in them and below them, as of the newest observation', () => {
    const both = { brands: 2, active: 2, total: 3, children: 1, as_of: at(2) };
    expect(figuresOf(...profiles, ofFirst, ofSecond).categories).toEqual({
      Shops: both,
      'Shops > Shoes': { ...both, children: 0 },
    });
    expect(figuresOf(...profiles).categories['Shops']).toMatchObject({ brands: 2, as_of: at(0, '02:00') });
    expect(figuresOf(ofFirst).categories).toEqual({});
  });

  test('follow the newest profile, and stay without brands', () => {
    const moved = profile(at(3), 'b1.example', ['Shops', 'Hats']);
    const back = profile(at(4), 'b2.example', ['Shops']);
    expect(figuresOf(...profiles, back, moved, ofFirst, ofSecond).categories).toEqual({
      Shops: { brands: 2, active: 2, total: 3, children: 2, as_of: at(4) },
      'Shops > Shoes': { brands: 0, active: 0, total: 0, children: 0, as_of: null },
      'Shops > Hats': { brands: 1, active: 1, total: 2, children: 0, as_of: at(3) },
    });
  });
});

describe('new advertisers', () => {
  const listOf = (...observations: readonly WorldObservation[]) => figuresOf(...observations).newAdvertisers;
  const registered = profile(at(0, '01:00'), 'b1.example');
  const first = scan('s1', at(1), []);
  const started = (ad: string, day: number, fields = {}) => shown(ad, { startedOn: dateOf(day), ...fields });

  test('are brands scanned before the window whose first ad started in it', () => {
    const news = scan('s2', at(6), [started('a1', 5), started('a2', 4, ended), started('a3', 6)]);
    expect(listOf(registered, first, news)).toEqual({
      'b1.example': { started_on: dateOf(4), active: 2, rank: 1 },
    });
    expect(listOf(registered, news), 'first scanned in the window').toEqual({});
    expect(listOf(first, news), 'without a category').toEqual({});
    const older = scan('s3', at(6, '12:00'), [started('a4', 3)]);
    expect(listOf(registered, first, news, older), 'an older ad').toEqual({});
  });

  test('are ordered by active ads', () => {
    const other = profile(at(0, '02:00'), 'b2.example');
    const ofOther = { brand: 'b2.example', pages: ['P2'] };
    const on = { page: 'P2' };
    const lists = listOf(
      registered,
      other,
      first,
      scan('s2', at(1), [], ofOther),
      scan('s3', at(6), [started('a1', 5)]),
      scan('s4', at(6), [started('a2', 5, on), started('a3', 6, on)], ofOther),
    );
    expect(Object.values(lists).map(({ rank }) => rank)).toEqual([1, 2]);
    expect(lists['b2.example']).toEqual({ started_on: dateOf(5), active: 2, rank: 1 });
  });
});

describe('risers', () => {
  const listOf = (...observations: readonly WorldObservation[]) => figuresOf(...observations).risers;
  const registered = profile(at(0, '01:00'), 'b1.example');
  const before = scan('s1', at(0), [shown('a1')]);
  const both = [shown('a1'), shown('a2', { startedOn: dateOf(6) })];
  const grown = (day: number, fields = {}) => scan('s2', at(day), both, fields);

  test('are brands with more active ads than on a reliable day at least 7 days before', () => {
    const growth = { day: dateOf(7), previous_day: dateOf(0), active: 2, previous: 1 };
    expect(listOf(registered, before, grown(7))).toEqual({ 'b1.example': growth });
    expect(listOf(registered, before, grown(6)), 'not in the last week').toEqual({});
    expect(listOf(registered, scan('s1', at(1), [shown('a1')]), grown(7)), 'too close').toEqual({});
    expect(listOf(registered, scan('s1', at(0), both), grown(7)), 'no growth').toEqual({});
    expect(listOf(before, grown(7)), 'without a category').toEqual({});
  });

  test('are not compared if a day does not cover what another shows', () => {
    const other = scan('s3', at(8), both, { countries: ['CA'] });
    expect(comparedRisers(worldWith(registered, before, grown(7)))).toEqual(['b1.example']);
    expect(comparedRisers(worldWith(registered, before, grown(7), other))).toEqual([]);
    expect(comparedRisers(worldWith(registered, before, grown(7, { complete: false })))).toEqual([]);
  });
});
