import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AdLibraryScanEnd, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { OBSERVATION_MAX_BYTES, Observation } from '#contracts/observations/index.ts';
import { type LibraryAdScope, libraryAdOf } from '#domain/shapes/library-ad.ts';
import { libraryObservations } from '#domain/shapes/observations.ts';

const SCOPE: LibraryAdScope = { isActive: true, scannedOn: '2026-05-10', pageIds: ['10000001', '10000002'] };
const AD = {
  id: '900000000000001',
  page_id: '10000001',
  page_name: 'Shop',
  ad_delivery_start_time: '2026-04-01',
  ad_creative_bodies: ['Second', 'First', ' First '],
  ad_creative_link_titles: ['Title'],
  ad_creative_link_captions: ['shop.example'],
  languages: ['fr', 'DE', 'de'],
  publisher_platforms: ['instagram', 'facebook', 'Audience Network'],
};
const mapped = (fields: object, scope = SCOPE) => {
  const result = libraryAdOf({ ...AD, ...fields }, scope);
  if ('refused' in result) throw new Error(result.refused);
  return result;
};
const refusal = (fields: object, scope = SCOPE): string => {
  const result = libraryAdOf({ ...AD, ...fields }, scope);
  return 'refused' in result ? result.refused : 'none';
};

describe('an ad of the library', () => {
  test('is mapped with its texts sorted and told apart, and without a link', () => {
    expect(mapped({}).ad).toMatchObject({
      ad_id: '900000000000001',
      page_id: '10000001',
      is_active: true,
      started_on: '2026-04-01',
      stopped_on: null,
      body: 'First',
      title: 'Title',
      caption: 'shop.example',
      link_url: null,
      cta_type: null,
      format: null,
      platforms: ['audience_network', 'facebook', 'instagram'],
      languages: ['de', 'fr'],
      versions: [
        { body: 'First', title: 'Title' },
        { body: 'Second', title: null },
      ],
    });
    expect(mapped({}).ad.countries).toBeUndefined();
  });

  test('is the same in any order of its lists', () => {
    const texts = fc.uniqueArray(fc.string({ maxLength: 9 }), { maxLength: 5 });
    fc.assert(
      fc.property(texts, texts, (bodies, titles) => {
        const lists = (turn: (list: readonly string[]) => string[]) => ({
          ad_creative_bodies: turn(bodies),
          ad_creative_link_titles: turn(titles),
          publisher_platforms: turn(AD.publisher_platforms),
          languages: turn(AD.languages),
        });
        expect(libraryAdOf({ ...AD, ...lists((list) => list.toReversed()) }, SCOPE)).toEqual(
          libraryAdOf({ ...AD, ...lists((list) => [...list]) }, SCOPE),
        );
      }),
    );
  });

  test('is a valid ad within its limits or refused, and never throws, for any answer', () => {
    const record = fc.record(
      {
        id: fc.oneof(fc.constant('900000000000001'), fc.anything()),
        page_id: fc.oneof(fc.constant('10000002'), fc.anything()),
        page_name: fc.anything(),
        ad_delivery_start_time: fc.oneof(fc.constant('2026-02-30'), fc.anything()),
        ad_delivery_stop_time: fc.oneof(fc.constant('0001-01-01'), fc.anything()),
        ad_creative_bodies: fc.oneof(fc.array(fc.string({ unit: 'binary' })), fc.anything()),
        publisher_platforms: fc.anything(),
        languages: fc.anything(),
        age_country_gender_reach_breakdown: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(record, (value) => {
        const result = libraryAdOf(value, SCOPE);
        if ('refused' in result) expect(result.refused.length).toBeLessThan(300);
        else expect(ObservedAd.parse(result.ad)).toEqual(result.ad);
      }),
    );
  });

  test('loses the end of long texts and then versions, and both are counted', () => {
    const bodies = Array.from(
      { length: 60 },
      (_, index) => `${String(index).padStart(2, '0')}${'ü'.repeat(25_000)}`,
    );
    const { ad, shortened } = mapped({ ad_creative_bodies: bodies });
    expect(ad.body).toHaveLength(20_000);
    expect(shortened.texts).toBeGreaterThan(50);
    expect(shortened.entries).toBe(60 - ad.versions.length);
    expect(ObservedAd.parse(ad)).toEqual(ad);
  });

  test.each([
    ['2026-05-11', null],
    ['2026-05-10', '2026-05-10'],
    ['2026-05-01T22:24:19+0000', '2026-05-01'],
    ['2026-13-01', null],
    [1_777_000_000, null],
  ])('with the stop time %s stopped on %s', (time, stopped) => {
    expect(mapped({ ad_delivery_stop_time: time }).ad.stopped_on).toBe(stopped);
  });

  test('takes the country codes of a breakdown and none of its numbers', () => {
    const { ad } = mapped({
      eu_total_reach: 4_711_471,
      spend: { lower_bound: '4711471' },
      ad_snapshot_url: 'https://library.example/?access_token=secret',
      age_country_gender_reach_breakdown: [
        { country: 'FR', age_gender_breakdowns: [{ age_range: '18-24', male: 4_711_471 }] },
        { country: 'DE' },
        { country: 'Unknown' },
      ],
    });
    expect(ad.countries).toEqual(['DE', 'FR']);
    expect(JSON.stringify(ad)).not.toMatch(/4711471|secret/);
  });

  test('with the page id 0 belongs to the only page that was asked for, and is refused among several', () => {
    expect(mapped({ page_id: '0' }, { ...SCOPE, pageIds: ['10000002'] }).ad.page_id).toBe('10000002');
    expect(refusal({ page_id: '0' })).toContain('names no page');
  });

  test.each([
    ['without an id', { id: undefined }, 'has no id'],
    ['with an id that lost digits', { id: 2 ** 60 }, 'has no id'],
    ['with a text for an id', { id: 'x1' }, 'ad_id is not valid'],
    ['of a page that was not asked for', { page_id: '10000003' }, 'was not asked for'],
    ['with half a character', { ad_creative_bodies: ['\uD800'] }, 'body is not valid'],
  ])('%s is refused', (_name, fields, reason) => {
    expect(refusal(fields)).toContain(reason);
  });
});

describe('the observations of a scan', () => {
  const scope = {
    brand_domain: 'shop.example',
    scanned_at: '2026-05-10T08:00:00.000Z',
    coverage: {
      pages: [{ page_id: '10000001', page_name: 'Shop' }],
      countries: ['DE', 'FR'],
      complete: true,
      collector: 'ads-archive-1',
    },
  };
  const ads = (count: number, text = '') =>
    Array.from({ length: count }, (_, index) => mapped({ id: String(10_000 + index), page_name: text }).ad);

  test('are equal for the same ads in another order, and differ when one differs', () => {
    const list = ads(600);
    const observed = libraryObservations(list, scope);
    expect(libraryObservations(list.toReversed(), scope)).toEqual(observed);
    expect(libraryObservations(list.slice(1), scope)[0]?.scan_id).not.toBe(observed[0]?.scan_id);
    expect(observed.map((one) => (one.type === 'ad_library.scan' ? one.ads.length : 'end'))).toEqual([
      250,
      250,
      100,
      'end',
    ]);
  });

  test('fit into messages, and hold each ad once', () => {
    const bodies = Array.from({ length: 20 }, (_, index) => `${index}${'x'.repeat(15_000)}`);
    const list = Array.from(
      { length: 12 },
      (_, index) => mapped({ id: String(20_000 + index), ad_creative_bodies: bodies }).ad,
    );
    const observed = libraryObservations(list, scope);
    for (const one of observed) {
      expect(Observation.parse(one)).toEqual(one);
      expect(Buffer.byteLength(JSON.stringify(one))).toBeLessThanOrEqual(OBSERVATION_MAX_BYTES);
    }
    const sent = observed.flatMap((one) => (one.type === 'ad_library.scan' ? one.ads : []));
    expect(sent.map(({ ad_id }) => ad_id)).toEqual(list.map(({ ad_id }) => ad_id));
  });

  test('of a scan without ads are its end alone', () => {
    const [end, ...rest] = libraryObservations([], scope);
    expect(rest).toEqual([]);
    expect(AdLibraryScanEnd.parse(end)).toMatchObject({ chunks: 0, coverage: { complete: true } });
  });
});
