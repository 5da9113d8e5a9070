import type { Scan, ShownAd, World } from '../world.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const dayOf = (time: string): string => time.slice(0, 10);
export const dayBefore = (time: string): string => dayOf(new Date(Date.parse(time) - DAY_MS).toISOString());
const isBlank = (text: string | null): boolean => text === null || text.trim() === '';

/** Decision: scans of one time are in the order of their ids (rule 11). */
const byTime = (a: Scan, b: Scan): number => (a.at + a.id < b.at + b.id ? -1 : 1);

/** A date more than a day after the scan is unknown, and so is a stop before its start: neither is believed. */
const withKnownDates = (scan: Scan): Scan => {
  const lastDay = dayOf(new Date(Date.parse(scan.at) + DAY_MS).toISOString());
  const known = (day: string | null): string | null => (day !== null && day > lastDay ? null : day);
  const ads = scan.ads.map((shown) => {
    const [startedOn, stoppedOn] = [known(shown.startedOn), known(shown.stoppedOn)];
    const isBefore = startedOn !== null && stoppedOn !== null && stoppedOn < startedOn;
    return { ...shown, startedOn, stoppedOn: isBefore ? null : stoppedOn };
  });
  return { ...scan, ads };
};

export const scansOf = ({ observations }: World): Scan[] => {
  const scans = observations.flatMap((observation) =>
    observation.kind === 'scan' ? [withKnownDates(observation)] : [],
  );
  return [...new Map(scans.map((scan) => [scan.id, scan])).values()].toSorted(byTime);
};

export const shows = (scan: Scan, ad: string): ShownAd | undefined =>
  scan.ads.find((shown) => shown.ad === ad);

/** Decision: `ALL` is a country of its own that only a scan of `ALL` covers; such a scan covers every country. */
export const coversCountry = (scan: Scan, country: string): boolean =>
  scan.countries.includes(country) || scan.countries.includes('ALL');
export const coversPair = (scan: Scan, page: string, country: string): boolean =>
  scan.complete && scan.pages.includes(page) && coversCountry(scan, country);

/** True when the library shows the ad as ended: by its flag, else by a stop date not after the scan (rules 1, 7). */
export const isEnded = (shown: ShownAd, scan: Scan): boolean =>
  shown.isActive === false ||
  (shown.isActive === null && shown.stoppedOn !== null && shown.stoppedOn <= dayOf(scan.at));

/** Returns the value of the latest of these scans that showed the field non-blank (rule 4). */
export const latest = (ad: string, scans: readonly Scan[], field: keyof ShownAd): string | null => {
  const values = scans.map((scan) => shows(scan, ad)?.[field] ?? null) as (string | null)[];
  return values.findLast((value) => !isBlank(value)) ?? null;
};
