import { expect, it } from 'vitest';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { ObservedAd, SCAN_PAGES_MAX } from '#contracts/observations/ad-library-scan.ts';
import { AD_MAX_BYTES } from '#contracts/observations/shorten-ad.ts';
import { CUT_MARK } from '#contracts/values/text.ts';
import { repeatedDifferences } from '#domain/corpus/ad-library/collector-differences.ts';
import { closeScan } from '#domain/corpus/ad-library/decider.ts';
import { NO_HISTORY } from '#domain/corpus/ad-library/looks.ts';
import { ad, library } from '#tests/dsl/scans.ts';

/** Limit of one append, the default of an event store. */
const APPEND_MAX_BYTES = 1024 * 1024;
/** Bytes of metadata, type and framing of the client. */
const EVENT_OVERHEAD_BYTES = 2_000;

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));
const card = (body: string) => ({
  body,
  title: null,
  link_description: null,
  cta_text: null,
  link_url: null,
});

/** Ad of the maximum length. `sign` fills its texts. */
const longest = (id: number, sign: string): ObservedAd => {
  const shell = ad(id, { cards: Array.from({ length: 10 }, () => card('')) });
  const signs = Math.floor((AD_MAX_BYTES - bytesOf(shell)) / 10 / Buffer.byteLength(sign));
  return { ...shell, cards: shell.cards.map(() => card(sign.repeat(signs))) };
};

const largest = (events: readonly AdLibraryEvent[]): number =>
  Math.max(...events.map(({ data }) => bytesOf(data)));

it('the ad schema keeps an ad of the maximum length, and leaves out the last cards of a longer one', () => {
  const ofMaximum = longest(1, 'क');
  expect(ObservedAd.parse(ofMaximum)).toEqual(ofMaximum);
  const longer = ObservedAd.parse({ ...ofMaximum, body: 'क'.repeat(20) });
  expect(longer).toEqual({ ...ofMaximum, body: 'क'.repeat(20), cards: ofMaximum.cards.slice(0, -1) });
  // A control character takes six bytes in JSON.
  const escaped = { ...ad(1), cards: Array.from({ length: 10 }, () => card('\u0001'.repeat(8_000))) };
  expect(ObservedAd.parse(escaped).cards).toHaveLength(8);
});

it('every event about ads of the maximum length fits into one append, also when all are revised or reworded', () => {
  const ids = [1, 2, 3, 4, 5];
  const shop = library();
  const scans = [
    shop.scan(
      { at: '2026-05-01T10:00Z' },
      ids.map((id) => longest(id, 'क')),
    ),
    shop.scan(
      { at: '2026-05-02T10:00Z' },
      ids.map((id) => longest(id, 'Ж')),
    ),
    shop.scan(
      { at: '2026-05-03T10:00Z', collector: 'two' },
      ids.map((id) => longest(id, 'ж')),
    ),
  ];
  expect(scans.map((events) => events[0]?.type)).toEqual(['AdStarted', 'AdRevised', 'AdsReworded']);
  for (const events of scans) expect(largest(events)).toBeLessThan(APPEND_MAX_BYTES - EVENT_OVERHEAD_BYTES);
});

/** Closing event of a scan whose pages are all partial and have this name. */
const closedScan = (pageName: string, differences: readonly string[] = []) => {
  const pages = Array.from({ length: SCAN_PAGES_MAX }, (_, index) => ({
    page_id: String(10_000_000_000_000_000_000n + BigInt(index)),
    page_name: pageName,
  }));
  const totals = {
    seen: 0,
    active: 0,
    missing: 0,
    total: 0,
    baseline: 0,
    news: 0,
    late: 0,
    stopped: 0,
    returned: 0,
  };
  const header = {
    scan_id: 'scan',
    brand_id: 'brand',
    scanned_for: 'brand',
    scanned_at: '2026-05-01T10:00:00.000Z',
    complete: true,
    countries: ['US'],
    collector: 'test',
    pages,
    pageIds: new Set<string>(),
    partialPages: new Set(pages.map(({ page_id }) => page_id)),
    isHistory: false,
  };
  const end = { seen: 0, reliable: false, late: false, differences };
  return closeScan(header, end, NO_HISTORY, { ...totals, revised: 0, destination_changed: 0, reworded: 0 });
};

it('the end of a scan fits into one append with any number of pages, whose names are cut if they are too long', () => {
  const usual = closedScan('Boots').data.pages;
  expect(new Set(usual.map(({ page_name }) => page_name))).toEqual(new Set(['Boots']));
  for (const name of ['B'.repeat(49), 'क'.repeat(500), '\u0001'.repeat(500)]) {
    const { data } = closedScan(name);
    expect(bytesOf(data)).toBeLessThan(APPEND_MAX_BYTES - EVENT_OVERHEAD_BYTES);
    expect(data.pages).toHaveLength(SCAN_PAGES_MAX);
    expect(data.pages.every(({ page_name }) => page_name?.endsWith(CUT_MARK))).toBe(true);
  }
});

it('the end of a scan fits into one append with its differences, however many and long the repeated ones are', () => {
  const repeated = Array.from({ length: 500 }, (_, index) => `body +prefix ${'क'.repeat(200)}${index}`);
  const labels = ['क'.repeat(9_000), '\u0001'.repeat(300)].map((label) => `cta_text ${label} > Shop`);
  const differences = repeatedDifferences({
    comparable: new Map([['body', 3] as const, ['cta_text', 3] as const]),
    repeated: new Map([...repeated, ...labels].map((one) => [one, 3])),
  });
  expect(differences.length).toBeGreaterThan(20);
  const { data } = closedScan('क'.repeat(500), differences);
  expect(data.differences).toEqual(differences);
  expect(bytesOf(data)).toBeLessThan(APPEND_MAX_BYTES - EVENT_OVERHEAD_BYTES);
});

it('an ad whose long text changes with each scan keeps looks of a limited length', () => {
  const shop = library();
  for (let day = 0; day < 60; day += 1) {
    const at = new Date(Date.UTC(2026, 4, 1 + day, 10)).toISOString();
    shop.scan({ at }, [ad(1, { body: (day % 2 === 0 ? 'a' : 'b').repeat(10_000) })]);
  }
  const [known] = [...shop.state.ads.values()];
  expect(known?.looks.length).toBeGreaterThan(15);
  expect(bytesOf(known?.looks ?? [])).toBeLessThan(20 * 11_000);
  expect(known?.first_seen_at).toBe('2026-05-01T10:00:00.000Z');
});
