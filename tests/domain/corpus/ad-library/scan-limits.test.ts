import { expect, it } from 'vitest';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { AD_MAX_BYTES, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { ad, library } from '#tests/dsl/scans.ts';

/** What an event store takes in one append, where nobody set another limit. */
const APPEND_MAX_BYTES = 1024 * 1024;
/** Metadata, the type and what the client sends around an event. */
const AROUND_A_EVENT_BYTES = 2_000;

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));
const card = (body: string) => ({
  body,
  title: null,
  link_description: null,
  cta_text: null,
  link_url: null,
});

/** As long as an ad may be, in a script of three bytes a character. */
const longest = (id: number, sign: string): ObservedAd => {
  const shell = ad(id, { cards: Array.from({ length: 10 }, () => card('')) });
  const signs = Math.floor((AD_MAX_BYTES - bytesOf(shell)) / 10 / Buffer.byteLength(sign));
  return { ...shell, cards: shell.cards.map(() => card(sign.repeat(signs))) };
};

const largest = (events: readonly AdLibraryEvent[]): number =>
  Math.max(...events.map(({ data }) => bytesOf(data)));

it('an ad may be so long, and not longer', () => {
  expect(ObservedAd.safeParse(longest(1, 'क')).success).toBe(true);
  const longer = { ...longest(1, 'क'), body: 'क'.repeat(20) };
  expect(ObservedAd.safeParse(longer).error?.issues[0]?.message).toContain(`at most ${AD_MAX_BYTES} bytes`);
  // Few characters, many bytes.
  const escaped = { ...ad(1), cards: Array.from({ length: 10 }, () => card('\u0001'.repeat(8_000))) };
  expect(ObservedAd.safeParse(escaped).success).toBe(false);
});

it('every event about the longest ads fits into an append, also where all are revised or worded anew', () => {
  const ids = [1, 2, 3, 4, 5];
  const shop = library();
  const scans = [
    shop.scan(
      { at: '2026-05-01T10:00Z' },
      ids.map((id) => longest(id, 'क')),
    ),
    shop.scan(
      { at: '2026-05-02T10:00Z' },
      ids.map((id) => longest(id, 'ख')),
    ),
    shop.scan(
      { at: '2026-05-03T10:00Z', collector: 'two' },
      ids.map((id) => longest(id, 'ग')),
    ),
  ];
  expect(scans.map((events) => events[0]?.type)).toEqual(['AdStarted', 'AdRevised', 'AdsReworded']);
  for (const events of scans) expect(largest(events)).toBeLessThan(APPEND_MAX_BYTES - AROUND_A_EVENT_BYTES);
});
