import { describe, expect, it, test } from 'vitest';
import { AdLibraryScanEnd, ObservedAd, UncutAd } from '#contracts/observations/ad-library-scan.ts';
import {
  AD_CARDS_MAX,
  AD_LANGUAGES_MAX,
  AD_MAX_BYTES,
  AD_PLATFORMS_MAX,
  AD_TEXT_LIMITS,
  AD_TEXT_MAX_CHARACTERS,
  AD_URL_MAX_CHARACTERS,
  AD_VERSIONS_MAX,
  shortenAd,
} from '#contracts/observations/shorten-ad.ts';
import { CUT_MARK, cutText } from '#contracts/values/text.ts';
import { ad, library } from '#tests/dsl/scans.ts';

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));
const card = (fields: object = {}) => ({
  body: null,
  title: null,
  link_description: null,
  cta_text: null,
  link_url: null,
  ...fields,
});
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const long = 'x'.repeat(AD_TEXT_MAX_CHARACTERS + 1);
const LONG_URL = `https://shop.example/${'a'.repeat(AD_URL_MAX_CHARACTERS)}`;

describe('a cut text', () => {
  test('ends with the mark and has the length of its limit', () => {
    expect(cutText('warm feet', 9)).toBe('warm feet');
    expect(cutText('warm feet in winter', 9)).toBe(`warm fee${CUT_MARK}`);
    expect(cutText(long, 100)).toHaveLength(100);
  });

  test('never ends in half a surrogate pair', () => {
    for (const limit of [20, 21, 22, 23]) {
      const cut = cutText('🧦'.repeat(40), limit);
      expect(cut.isWellFormed()).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(limit);
      expect(cut.endsWith(CUT_MARK)).toBe(true);
    }
  });

  test('is not changed when it is cut again', () => {
    for (const limit of [10, 11, 12])
      expect(cutText(cutText('🧦 '.repeat(40), limit), limit)).toBe(cutText('🧦 '.repeat(40), limit));
  });
});

describe('an ad over its limits', () => {
  const overLimits = ad(1, {
    page_name: long,
    body: long,
    caption: long,
    cta_type: long,
    cta_text: long,
    link_url: LONG_URL,
    platforms: times(AD_PLATFORMS_MAX + 1, 'p'),
    languages: times(AD_LANGUAGES_MAX + 2, 'q'),
    media: [
      ...times(AD_CARDS_MAX, { kind: 'image' as const, url: LONG_URL, poster_url: null }),
      { kind: 'video', url: null, poster_url: null },
    ],
    cards: times(AD_CARDS_MAX + 3, card({ title: 'c' })),
    versions: times(AD_VERSIONS_MAX + 4, card({ title: 'v' })),
    branded_content: { page_id: null, page_name: long },
  });

  test('is accepted: texts are cut, URLs become unknown, lists lose their last entries, and all are counted', () => {
    const { ad: short, shortened } = shortenAd(UncutAd.parse(overLimits));
    expect(short).toMatchObject({
      page_name: cutText(long, AD_TEXT_LIMITS.page_name),
      body: cutText(long, AD_TEXT_MAX_CHARACTERS),
      caption: cutText(long, AD_TEXT_LIMITS.caption),
      cta_type: cutText(long, AD_TEXT_LIMITS.cta_type),
      cta_text: cutText(long, AD_TEXT_LIMITS.cta_text),
      link_url: null,
      media: times(AD_CARDS_MAX, { kind: 'image', url: null, poster_url: null }),
      branded_content: { page_id: null, page_name: cutText(long, AD_TEXT_LIMITS.page_name) },
    });
    expect(
      [short.platforms, short.languages, short.cards, short.versions].map((list) => list?.length),
    ).toEqual([AD_PLATFORMS_MAX, AD_LANGUAGES_MAX, AD_CARDS_MAX, AD_VERSIONS_MAX]);
    expect(shortened).toEqual({ texts: 6, urls: 1 + AD_CARDS_MAX, entries: 1 + 2 + 1 + 3 + 4 });
    expect(ObservedAd.parse(overLimits)).toEqual(short);
  });

  test('is not changed when it is shortened again', () => {
    const once = shortenAd(UncutAd.parse(overLimits)).ad;
    expect(shortenAd(once)).toEqual({ ad: once, shortened: { texts: 0, urls: 0, entries: 0 } });
  });

  test('keeps a text with half a surrogate pair or a NUL character refused', () => {
    for (const body of ['x\ud83e', 'x\u0000', `${long}\ud83e`])
      expect(ObservedAd.safeParse(ad(1, { body })).success).toBe(false);
  });

  test('is not revised when it is seen again', () => {
    const shop = library();
    const seen = (day: string) => shop.scan({ at: `2026-05-${day}T10:00Z` }, [ObservedAd.parse(overLimits)]);
    expect(seen('01').map(({ type }) => type)).toEqual(['AdStarted', 'ScanRecorded']);
    expect(seen('03').map(({ type }) => type)).toEqual(['ScanRecorded']);
  });
});

describe('an ad of too many bytes', () => {
  const text = 'क'.repeat(AD_TEXT_MAX_CHARACTERS / 2);
  const parts = (count: number, title: string) => times(count, card({ title, body: text }));

  test('loses versions first, then cards', () => {
    const manyVersions = shortenAd(ad(1, { cards: parts(5, 'c'), versions: parts(20, 'v') }));
    expect(manyVersions.ad.cards).toHaveLength(5);
    expect(manyVersions.ad.versions).toHaveLength(9);
    expect(manyVersions.shortened).toEqual({ texts: 0, urls: 0, entries: 11 });
    const manyCards = shortenAd(ad(1, { cards: parts(20, 'c'), versions: parts(20, 'v') }));
    expect([manyCards.ad.cards.length, manyCards.ad.versions.length]).toEqual([14, 0]);
    for (const one of [manyVersions, manyCards]) {
      expect(bytesOf(one.ad)).toBeLessThanOrEqual(AD_MAX_BYTES);
      expect(shortenAd(one.ad).ad).toEqual(one.ad);
    }
  });

  test('has its own texts cut further when they alone exceed the limit', () => {
    const control = '\u0001'.repeat(AD_TEXT_MAX_CHARACTERS);
    const heaviest = ad(1, {
      body: control,
      title: control,
      link_description: `${control}x`,
      caption: control,
      page_name: control,
      link_url: `https://shop.example/${'語'.repeat(AD_URL_MAX_CHARACTERS - 21)}`,
      platforms: times(AD_PLATFORMS_MAX, '\u0001'.repeat(40)),
      languages: times(AD_LANGUAGES_MAX, '\u0001'.repeat(20)),
      cards: [card({ body: control })],
    });
    // All other fields together stay below the limit.
    const { ad: short, shortened } = shortenAd({ ...heaviest, ballast: 'x'.repeat(20_000) });
    expect(bytesOf(short)).toBeLessThanOrEqual(AD_MAX_BYTES);
    expect(short.body).toBe(cutText(control, AD_TEXT_MAX_CHARACTERS / 2));
    // Caption, page name and three long texts, one cut twice.
    expect(shortened.texts).toBe(5);
    expect(shortenAd(short).ad).toEqual(short);
  });
});

it('the name of a covered page is cut to its limit', () => {
  const end = {
    type: 'ad_library.scan_end',
    scan_id: '00000000-0000-4000-8000-000000000000',
    brand_domain: 'shop.example',
    scanned_at: '2026-05-01T10:00:00.000Z',
    chunks: 0,
    coverage: {
      pages: [{ page_id: '100000001', page_name: long }],
      countries: ['US'],
      complete: true,
      collector: 'c',
    },
  };
  expect(AdLibraryScanEnd.parse(end).coverage.pages[0]?.page_name).toBe(
    cutText(long, AD_TEXT_LIMITS.page_name),
  );
});
