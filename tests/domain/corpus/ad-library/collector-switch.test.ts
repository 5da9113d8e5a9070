import { describe, expect, it } from 'vitest';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { ad, library, type ScanOptions } from '#tests/dsl/scans.ts';

/** Tests rule 6: a difference between two collectors is not a change of the brand. */

const COLOURS = ['red', 'green', 'blue', 'grey', 'pink'];
const TEXTS = COLOURS.map((colour) => `Socks in ${colour}`);
const day = (number: number, options: Partial<ScanOptions> = {}): ScanOptions => ({
  at: `2026-05-0${number}T10:00Z`,
  ...options,
});

const bodies = (bodyOf: (text: string, index: number) => string): readonly ObservedAd[] =>
  TEXTS.map((text, index) => ad(index + 1, { body: bodyOf(text, index) }));

const switched = (before: readonly ObservedAd[], after: readonly ObservedAd[]) => {
  const shop = library();
  shop.scan(day(1), before);
  const events = shop.scan(day(2, { collector: 'two' }), after);
  return { shop, events, totals: { revised: shop.totals.revised, reworded: shop.totals.reworded } };
};

const revisedIds = (events: ReturnType<typeof switched>['events']): readonly string[] =>
  events.flatMap(({ type, data }) => (type === 'AdRevised' ? [data.ad_id] : []));

const REWORDED = { revised: 0, reworded: 5 };
const ONE_REVISED = { revised: 1, reworded: 4 };
const ALL_REVISED = { revised: 5, reworded: 0 };
const LAST = ad(5).ad_id;

describe('digits of one ad', () => {
  it.each([
    ['a price', ' 10 EUR', ' 99 EUR'],
    ['a percentage', ' -10 %', ' -70 %'],
    ['a time of day among words', ' until 10:30', ' until 11:30'],
    ['a longer number with the same end', ' 10 EUR', ' 110 EUR'],
  ])('are a revision when most ads gain other ones: %s', (_, most, own) => {
    const { events, totals } = switched(
      bodies((text) => text),
      bodies((text, index) => `${text}${index === 4 ? own : most}`),
    );
    expect(totals).toEqual(ONE_REVISED);
    expect(revisedIds(events)).toEqual([LAST]);
  });

  it('are a revision on each ad when all ads gain different ones', () => {
    const { totals } = switched(
      bodies((text) => text),
      bodies((text, index) => `${text} ${index + 1}0 EUR`),
    );
    expect(totals).toEqual(ALL_REVISED);
  });

  it('are a revision when they extend a number of the text', () => {
    const { totals } = switched(
      bodies((text) => `9 EUR: ${text}`),
      bodies((text) => `99 EUR: ${text}`),
    );
    expect(totals).toEqual(ALL_REVISED);
  });

  it('are a revision behind a timer that most ads gain', () => {
    const { events, totals } = switched(
      bodies((text) => `${text} for 10 EUR`),
      bodies((text, index) => `0:45 ${text} for ${index === 4 ? 12 : 10} EUR`),
    );
    expect(totals).toEqual(ONE_REVISED);
    expect(revisedIds(events)).toEqual([LAST]);
  });
});

describe('timers', () => {
  it.each([
    ['alone', (index: number) => `0:0${index} `],
    ['of a player', (index: number) => `0:00 / 1:0${index} `],
    ['of an hour', (index: number) => `1:00:0${index} `],
    ['before a label', (index: number) => `0:0${index} Sponsored `],
  ])('are a rewording, although each video has another duration: %s', (_, timer) => {
    const { totals } = switched(
      bodies((text) => text),
      bodies((text, index) => `${timer(index)}${text}`),
    );
    expect(totals).toEqual(REWORDED);
  });
});

describe('framing by both collectors', () => {
  it.each([
    ['at the end, then at the start', (text: string) => `${text} Shop now`, (text: string) => `0:45 ${text}`],
    ['at the start, then at the end', (text: string) => `0:45 ${text}`, (text: string) => `${text} Shop now`],
    ['at the end', (text: string) => `${text} Shop now`, (text: string) => `${text} Learn more`],
    ['at both ends', (text: string) => `Ad: ${text} Shop now`, (text: string) => `0:45 ${text} – Sponsored`],
    [
      'with timers at another time',
      (text: string) => `0:00 / 0:45 ${text}`,
      (text: string) => `0:00 / 0:50 ${text}`,
    ],
    ['with other quotes', (text: string) => `“${text}” Shop now`, (text: string) => `0:45 "${text}"`],
  ])('is a rewording when it repeats: %s', (_, one, two) => {
    expect(switched(bodies(one), bodies(two)).totals).toEqual(REWORDED);
  });

  it('is a rewording around long texts', () => {
    const long = (text: string) => `${text} ${'that last a lifetime '.repeat(100)}${text}`;
    const { totals } = switched(
      bodies((text) => `${long(text)} Shop now`),
      bodies((text) => `0:45 ${long(text)}`),
    );
    expect(totals).toEqual(REWORDED);
  });

  it.each([
    ['words', 'Boots in pink'],
    ['digits', 'Socks in pink 2'],
  ])('does not hide own %s of one ad', (_, own) => {
    const { events, totals } = switched(
      bodies((text) => `${text} Shop now`),
      bodies((text, index) => `0:45 ${index === 4 ? own : text}`),
    );
    expect(totals).toEqual(ONE_REVISED);
    expect(revisedIds(events)).toEqual([LAST]);
  });

  it('does not include a word that changes inside all texts', () => {
    const { totals } = switched(
      bodies((text) => `Buy warm ${text}`),
      bodies((text) => `Buy cheap ${text}`),
    );
    expect(totals).toEqual(ALL_REVISED);
  });

  it('does not include a text that consists of it alone', () => {
    const { events } = switched(
      bodies((text, index) => (index === 4 ? 'Shop now' : `${text} Shop now`)),
      bodies((text, index) => (index === 4 ? '0:45' : `0:45 ${text}`)),
    );
    expect(revisedIds(events)).toEqual([LAST]);
  });
});

describe('cards', () => {
  const card = (title: string, body = 'Warm'): ObservedAd['cards'][number] => ({
    title,
    body,
    link_description: null,
    cta_text: null,
    link_url: 'https://shop.example/socks',
  });
  const carousels = (titleOf: (text: string, ad: number) => string, isReversed = false) =>
    TEXTS.map((text, index) => {
      const cards = [card(titleOf(`${text} I`, index)), card(titleOf(`${text} II`, index))];
      return ad(index + 1, { cards: isReversed ? cards.toReversed() : cards });
    });

  it('are a rewording when all titles gain the same prefix', () => {
    const { totals } = switched(
      carousels((text) => text),
      carousels((text) => `0:45 ${text}`),
    );
    expect(totals).toEqual(REWORDED);
  });

  it('are a rewording when both collectors frame the titles', () => {
    const { totals } = switched(
      carousels((text) => `${text} Shop now`),
      carousels((text) => `0:45 ${text}`),
    );
    expect(totals).toEqual(REWORDED);
  });

  it('are a rewording on an ad that the other collector shows in another order', () => {
    const after = carousels((text) => `0:45 ${text}`);
    const reversed = carousels((text) => `0:45 ${text}`, true);
    const { totals } = switched(
      carousels((text) => text),
      [...after.slice(0, 4), ...reversed.slice(4)],
    );
    expect(totals).toEqual(REWORDED);
  });

  it.each([
    ['words', (text: string) => text.replace('Socks', 'Boots')],
    ['digits', (text: string) => `${text} 99`],
  ])('are revised when one ad has own %s among titles that gain a prefix', (_, own) => {
    const { events, totals } = switched(
      carousels((text) => text),
      carousels((text, index) => `0:45 ${index === 4 ? own(text) : text}`),
    );
    expect(totals).toEqual(ONE_REVISED);
    expect(revisedIds(events)).toEqual([LAST]);
  });

  it('are revised when one card of an ad has own words', () => {
    const { events } = switched(
      carousels((text) => text),
      carousels((text, index) => `0:45 ${index === 4 ? text.replace(' II', ' III') : text}`),
    );
    expect(revisedIds(events)).toEqual([LAST]);
  });
});
