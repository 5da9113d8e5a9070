import { describe, expect, it } from 'vitest';
import type { AdDetailsObserved, AdStarted } from '#contracts/events/corpus/ad-library.ts';
import { ad, library, typesOf } from '#tests/dsl/scans.ts';

const MAYA = { page_id: '500000001', page_name: 'Maya' };
const LUIS = { page_id: '500000002', page_name: 'Luis' };
const day = (number: number) => ({ at: `2026-05-0${number}T10:00Z` });

describe('the partner of an ad', () => {
  it('is part of the AdStarted event, and absent from it when the ad names no partner', () => {
    const shop = library();
    const events = shop.scan(day(1), [
      ad(1, { branded_content: MAYA }),
      ad(2, { branded_content: null }),
      ad(3),
    ]);
    const started = events.filter((event): event is AdStarted => event.type === 'AdStarted');
    expect(started[0]?.data.branded_content).toEqual(MAYA);
    for (const { data } of started.slice(1)) expect(data).not.toHaveProperty('branded_content');
  });

  it('is added without news when a later scan shows it', () => {
    const shop = library();
    shop.scan(day(1), [ad(1)]);
    const events = shop.scan(day(2), [ad(1, { branded_content: MAYA })]);
    expect(typesOf(events)).toEqual(['AdDetailsObserved']);
    expect((events[0] as AdDetailsObserved).data).toMatchObject({ details: {}, branded_content: MAYA });
  });

  it('is recorded again only when it changes', () => {
    const shop = library();
    shop.scan(day(1), [ad(1, { branded_content: { page_id: null, page_name: 'Maya' } })]);
    const told = (branded_content: typeof MAYA | { page_id: null; page_name: string } | null, on: number) =>
      typesOf(shop.scan(day(on), [ad(1, { branded_content })]));
    expect(told({ page_id: null, page_name: 'Maya' }, 2), 'the same').toEqual([]);
    expect(told(MAYA, 3), 'its id').toEqual(['AdDetailsObserved']);
    expect(told({ page_id: null, page_name: 'maya' }, 4), 'less than is known').toEqual([]);
    expect(told(null, 5), 'not said').toEqual(['AdsSeen']);
    expect(told(null, 6), 'not said again').toEqual([]);
    expect(told(LUIS, 7), 'another').toEqual(['AdDetailsObserved', 'AdsSeen']);
  });
});
