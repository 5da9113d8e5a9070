import { DAY_MS, utcDateOfMs } from '../values/time.ts';

/**
 * The network opened advertising on 2007-11-06 (press release "Facebook Unveils Facebook Ads"). The library also shows
 * ads that were running when it opened.
 */
const FIRST_START = '2007-11-06';
/** The library has ads that ran on 2018-05-07 or later. */
const FIRST_STOP = '2018-05-07';

type Dates = { readonly [Field in 'started_on' | 'stopped_on']: string | null };

const UNBELIEVABLE: readonly {
  readonly field: keyof Dates;
  readonly is: (day: string, last: string) => boolean;
  readonly note: string;
}[] = [
  { field: 'started_on', is: (day, last) => day > last, note: 'start date in the future' },
  {
    field: 'started_on',
    is: (day) => day < FIRST_START,
    note: 'start date before the first ads of the network',
  },
  { field: 'stopped_on', is: (day, last) => day > last, note: 'stop date in the future' },
  { field: 'stopped_on', is: (day) => day < FIRST_STOP, note: 'stop date before the library existed' },
];

/**
 * Dates after the scan, less a day for time zones, or before ads or the library existed, become unknown. Each has a
 * note of constant text. `scannedAt` has a zone; an invalid one changes nothing.
 */
export const withBelievableDates = <A extends Dates>(
  ad: A,
  scannedAt: string,
): { readonly ad: A; readonly notes: readonly string[] } => {
  const at = Date.parse(scannedAt);
  if (Number.isNaN(at)) return { ad, notes: [] };
  const last = utcDateOfMs(at + DAY_MS);
  const found = UNBELIEVABLE.filter(({ field, is }) => {
    const day = ad[field];
    return day !== null && is(day, last);
  });
  if (found.length === 0) return { ad, notes: [] };
  const unknown = Object.fromEntries(found.map(({ field }) => [field, null]));
  return { ad: { ...ad, ...unknown }, notes: found.map(({ note }) => note) };
};
