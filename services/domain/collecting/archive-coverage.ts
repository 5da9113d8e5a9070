import { Refusal } from '#contracts/errors.ts';

/** European Union and United Kingdom: the library shows all ads that were delivered there. */
export const ARCHIVE_COUNTRIES: readonly string[] =
  'AT BE BG CY CZ DE DK EE ES FI FR GB GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ');

/** An empty reply for a page with more ads than this is doubted. */
export const DOUBTED_OVER_ADS = 5;

export type ArchiveFindings = {
  /** The list ended with an empty reply, or with one without a cursor. */
  readonly ended: boolean;
  /** The library repeated a cursor, which would loop for ever. */
  readonly looped: boolean;
  /** Ads that were omitted as invalid. */
  readonly refusedAds: number;
  readonly tokenLost: boolean;
};

/** True when the absence of an ad from the scan proves that it stopped. */
export const isCompleteReading = ({ ended, looped, refusedAds, tokenLost }: ArchiveFindings): boolean =>
  ended && !looped && refusedAds === 0 && !tokenLost;

/** Pages that had many ads and now have none. The library sometimes omits pages, so they are read again. */
export const doubtedPages = (
  pageIds: readonly string[],
  adsBefore: ReadonlyMap<string, number>,
  adsNow: ReadonlyMap<string, number>,
): readonly string[] =>
  pageIds.filter((id) => (adsBefore.get(id) ?? 0) > DOUBTED_OVER_ADS && (adsNow.get(id) ?? 0) === 0);

/** Throws `Refusal('invalid_input')`. With fewer countries, ads of the missing ones would never stop. */
export const requireCountriesKept = (before: readonly string[], wanted: readonly string[]): void => {
  const missing = before.filter((country) => !wanted.includes(country));
  if (missing.length === 0) return;
  throw new Refusal(
    'invalid_input',
    `The list of countries may only grow: ${missing.join(', ')} was scanned before. Add it to ADS_ARCHIVE_COUNTRIES again.`,
  );
};
