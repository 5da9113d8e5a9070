import type { PageLink, Profile, Scan, ShownAd, World, WorldObservation } from './world.ts';

/** Short forms for worlds that a test writes out. The first day is 10 March 2026. */

const FIRST_DAY = 10;

export const dateOf = (day: number): string => `2026-03-${String(FIRST_DAY + day).padStart(2, '0')}`;
/** `at(2, '06:00')`: 6 o'clock of the third day. Without a time it is 10 o'clock. */
export const at = (day: number, time = '10:00'): string => `${dateOf(day)}T${time}:00.000Z`;

/** An ad on page `P1` that is shown as running since the first day. */
export const shown = (ad = 'a1', fields: Partial<ShownAd> = {}): ShownAd => ({
  ad,
  page: 'P1',
  isActive: true,
  startedOn: dateOf(0),
  stoppedOn: null,
  body: null,
  title: null,
  caption: null,
  link: null,
  ...fields,
});

/** A complete scan of page `P1` in the US for the first brand. */
export const scan = (
  id: string,
  time: string,
  ads: readonly ShownAd[],
  fields: Partial<Scan> = {},
): Scan => ({
  kind: 'scan',
  id,
  at: time,
  brand: 'b1.example',
  complete: true,
  pages: ['P1'],
  countries: ['US'],
  collector: 'c1',
  ads,
  ...fields,
});

export const link = (
  time: string,
  page: string,
  brand = 'b1.example',
  fields: Partial<PageLink> = {},
): PageLink => ({
  kind: 'link',
  at: time,
  brand,
  page,
  confidence: 0.9,
  linked: true,
  ...fields,
});

export const profile = (time: string, brand: string, category = ['Shops', 'Shoes']): Profile => ({
  kind: 'profile',
  at: time,
  brand,
  category,
});

export const worldWith = (...observations: readonly WorldObservation[]): World => ({
  brands: ['b1.example', 'b2.example'],
  observations,
});
