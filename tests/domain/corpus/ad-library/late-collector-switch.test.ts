import { describe, expect, it } from 'vitest';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { ad, library, type ScanOptions } from '#tests/dsl/scans.ts';

/** Rules 6 and 11: a switch of collectors gives the same counts in any order of arrival. */

type Scan = readonly [options: ScanOptions, ads: readonly ObservedAd[]];

const TEXTS = ['red', 'green', 'blue', 'grey'].map((colour) => `Socks in ${colour}`);
const worded = (prefix: string, texts: readonly string[] = TEXTS): readonly ObservedAd[] =>
  texts.map((text, index) => ad(index + 1, { body: `${prefix}${text}` }));
const part = (day: number, collector: string, ads: readonly ObservedAd[]): Scan => [
  { at: `2026-05-0${day}T10:00Z`, complete: false, collector },
  ads,
];
const FRAME = 'Sponsored: ';

const changesOf = (scans: readonly Scan[]) => {
  const shop = library();
  for (const [options, ads] of scans) shop.scan(options, ads);
  return {
    days: shop.log.map(({ observed_at, totals }) => ({
      day: Number(observed_at.slice(8, 10)),
      revised: totals?.revised,
      reworded: totals?.reworded,
    })),
    bodies: [...shop.state.ads.values()].map(({ ad_id, content }) => `${ad_id} ${content.body}`).toSorted(),
  };
};

const ordersOf = <T>(values: readonly T[]): readonly (readonly T[])[] =>
  values.length < 2
    ? [values]
    : values.flatMap((first, index) =>
        ordersOf(values.toSpliced(index, 1)).map((others) => [first, ...others]),
      );

const day = (number: number, revised: number, reworded: number) => ({ day: number, revised, reworded });

const expectInAnyOrder = (scans: readonly Scan[], days: readonly ReturnType<typeof day>[]): void => {
  const { bodies } = changesOf(scans);
  for (const order of ordersOf(scans)) {
    const name = order.map(([{ at }]) => at.slice(8, 10)).join(', ');
    expect(changesOf(order), `arrival of days ${name}`).toEqual({ days, bodies });
  }
};

describe('a switch of collectors in incomplete scans counts the same in any order of arrival', () => {
  it('with an ad that missed the switch', () => {
    const [, ...others] = worded(FRAME);
    expectInAnyOrder(
      [part(1, 'one', worded('')), part(2, 'two', others), part(3, 'two', worded(FRAME))],
      [day(1, 0, 0), day(2, 0, 3), day(3, 0, 1)],
    );
  });

  it('compared with the texts of its own time, not with newer ones', () => {
    const later = TEXTS.map((text) => text.replace('Socks', 'Hats'));
    expectInAnyOrder(
      [part(1, 'one', worded('')), part(2, 'two', worded(FRAME)), part(3, 'two', worded(FRAME, later))],
      [day(1, 0, 0), day(2, 0, 4), day(3, 4, 0)],
    );
  });

  it('with later scans tallied again when a late one shows that the switch came before them', () => {
    expectInAnyOrder(
      [
        part(1, 'one', worded('')),
        part(2, 'two', worded('')),
        part(3, 'two', worded(FRAME)),
        part(4, 'one', worded('')),
      ],
      [day(1, 0, 0), day(2, 0, 0), day(3, 4, 0), day(4, 0, 4)],
    );
  });

  it('with an ad whose own words differ', () => {
    const [first, ...others] = TEXTS;
    const own = [`${first} on sale`, ...others];
    expectInAnyOrder(
      [part(1, 'one', worded('')), part(2, 'two', worded(FRAME, own)), part(3, 'one', worded('', own))],
      [day(1, 0, 0), day(2, 1, 3), day(3, 0, 4)],
    );
  });

  it('with a text that the first scan of the other collector left blank', () => {
    const blank = worded('').map((one) => ({ ...one, body: null }));
    expectInAnyOrder(
      [part(1, 'one', worded('')), part(2, 'two', blank), part(3, 'two', worded(FRAME))],
      [day(1, 0, 0), day(2, 0, 0), day(3, 0, 4)],
    );
  });

  it('in scans that name no page', () => {
    const unnamed = ([options, ads]: Scan): Scan => [{ ...options, pages: [] }, ads];
    expectInAnyOrder(
      [part(1, 'one', worded('')), part(2, 'two', worded(FRAME)), part(3, 'one', worded(''))].map(unnamed),
      [day(1, 0, 0), day(2, 0, 4), day(3, 0, 4)],
    );
  });

  it('when the other collector shows the ads as ended', () => {
    const ended = worded(FRAME).map((one) => ({ ...one, is_active: false }));
    expectInAnyOrder(
      [part(1, 'one', worded('')), part(2, 'two', ended), part(3, 'two', worded(FRAME))],
      [day(1, 0, 0), day(2, 0, 4), day(3, 0, 0)],
    );
  });
});
