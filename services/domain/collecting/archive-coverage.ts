import { Refusal } from '#contracts/errors.ts';

/** Countries of the European Union and the United Kingdom. The library shows all ads that were delivered there. */
export const ARCHIVE_COUNTRIES: readonly string[] =
  'AT BE BG CY CZ DE DK EE ES FI FR GB GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ');

/** Ads of a page's last scan above which an empty answer is doubted. */
export const DOUBTED_OVER_ADS = 5;

/** Findings about the reading of active ads that decide whether its scan is complete. */
export type ArchiveFindings = {
  /** The list ended with an empty answer, or with one that has no cursor. */
  readonly ended: boolean;
  /** The library served a cursor for the second time, which would go on for ever. */
  readonly looped: boolean;
  /** Ads that were left out because they are not valid. */
  readonly refusedAds: number;
  /** The token was refused while the list was read. */
  readonly tokenLost: boolean;
};

/** Returns whether the absence of an ad from the scan has a meaning. */
export const isCompleteReading = ({ ended, looped, refusedAds, tokenLost }: ArchiveFindings): boolean =>
  ended && !looped && refusedAds === 0 && !tokenLost;

/**
 * Returns the pages that had over `DOUBTED_OVER_ADS` ads and now have none. The library forgets pages for a while, so they
 * are read again alone, and their scan is partial until two readings agree.
 */
export const doubtedPages = (
  pageIds: readonly string[],
  adsBefore: ReadonlyMap<string, number>,
  adsNow: ReadonlyMap<string, number>,
): readonly string[] =>
  pageIds.filter((id) => (adsBefore.get(id) ?? 0) > DOUBTED_OVER_ADS && (adsNow.get(id) ?? 0) === 0);

/**
 * Throws `Refusal('invalid_input')` when countries were left out since the last scans. Absence is judged by what was asked,
 * so with a shorter list no ad would ever stop in the countries that are missing.
 */
export const requireCountriesKept = (before: readonly string[], wanted: readonly string[]): void => {
  const missing = before.filter((country) => !wanted.includes(country));
  if (missing.length === 0) return;
  throw new Refusal(
    'invalid_input',
    `The list of countries may only grow: ${missing.join(', ')} was scanned before. Add it to ADS_ARCHIVE_COUNTRIES again.`,
  );
};
