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
  readonly is: (day: string, last: string, start: string | null) => boolean;
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
  {
    field: 'stopped_on',
    is: (day, _, start) => start !== null && day < start,
    note: 'stop date before the start date',
  },
];

/**
 * Dates after the scan, less a day for time zones, or before ads or the library existed, become unknown, and so does a
 * stop before its start. Each has a note of constant text. `scannedAt` has a zone; an invalid one changes nothing.
 */
export const withBelievableDates = <A extends Dates>(
  ad: A,
  scannedAt: string,
): { readonly ad: A; readonly notes: readonly string[] } => {
  const at = Date.parse(scannedAt);
  if (Number.isNaN(at)) return { ad, notes: [] };
  const last = utcDateOfMs(at + DAY_MS);
  let dated = ad;
  const notes: string[] = [];
  for (const { field, is, note } of UNBELIEVABLE) {
    const day = dated[field];
    if (day === null || !is(day, last, dated.started_on)) continue;
    dated = { ...dated, [field]: null };
    notes.push(note);
  }
  return { ad: dated, notes };
};
