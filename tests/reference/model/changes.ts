import type { ChangeFigures, Scan } from '../world.ts';
import type { AdAfter, Library, Look } from './library.ts';
import { dayOf, isEnded, shows } from './observations.ts';

type Field = 'body' | 'title';
const FIELDS: readonly Field[] = ['body', 'title'];

type Comparison = {
  readonly field: Field;
  readonly was: string;
  readonly now: string;
  readonly before: Scan;
  readonly scan: Scan;
};

const normalised = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().toLowerCase();

/** Returns the comparison of a field; `null` when the scan does not show it, or no scan before did (rule 4). */
const comparisonOf = (ad: string, field: Field, scan: Scan, scans: readonly Scan[]): Comparison | null => {
  const valueIn = (one: Scan | undefined): string => (one && shows(one, ad)?.[field])?.trim() ?? '';
  const now = valueIn(scan);
  const before = scans.slice(0, scans.indexOf(scan)).findLast((one) => valueIn(one) !== '');
  if (now === '' || before === undefined) return null;
  return { field, was: valueIn(before), now, before, scan };
};

const longestRun = (was: readonly string[], now: readonly string[]) => {
  let longest = { inWas: 0, inNow: 0, length: 0 };
  for (const inWas of was.keys())
    for (const inNow of now.keys()) {
      let length = 0;
      while (inWas + length < was.length && was[inWas + length] === now[inNow + length]) length += 1;
      if (length > longest.length) longest = { inWas, inNow, length };
    }
  return longest;
};

/** `null`: no common words, or both have other words at one end. Decision: the latter is the brand's change. */
const framesOf = ({ field, was, now }: Comparison): readonly string[] | null => {
  const [a, b] = [normalised(was).split(' '), normalised(now).split(' ')];
  const { inWas, inNow, length } = longestRun(a, b);
  if (length === 0) return null;
  const ends = [
    { end: 'before', removed: a.slice(0, inWas), added: b.slice(0, inNow) },
    { end: 'after', removed: a.slice(inWas + length), added: b.slice(inNow + length) },
  ];
  if (ends.some(({ removed, added }) => removed.length > 0 && added.length > 0)) return null;
  return ends.flatMap(({ end, removed, added }) => [
    ...(removed.length > 0 ? [`${field}: removed ${end} ${removed.join(' ')}`] : []),
    ...(added.length > 0 ? [`${field}: added ${end} ${added.join(' ')}`] : []),
  ]);
};

type OfBrand = { readonly looks: readonly Look[]; readonly scans: readonly Scan[] };

const isOfCollectors = ({ before, scan }: Comparison): boolean => before.collector !== scan.collector;

const comparisonsOf = (ad: string, scan: Scan, scans: readonly Scan[]): Comparison[] =>
  FIELDS.flatMap((field) => comparisonOf(ad, field, scan, scans) ?? []);

/** Decision: an ad is comparable if another collector showed the text last, and one ad alone shows nothing. */
const repeatedIn = (scan: Scan, { looks, scans }: OfBrand): readonly string[] => {
  const ads = looks.find((look) => look.scan === scan)?.ads ?? [];
  const compared = ads
    .filter(({ ad }) => shows(scan, ad))
    .flatMap(({ ad }) => comparisonsOf(ad, scan, scans).filter(isOfCollectors));
  const frames = compared.map((one) => ({ field: one.field, frames: framesOf(one) ?? [] }));
  return [...new Set(frames.flatMap((one) => one.frames))].filter((frame) => {
    const repeated = frames.filter((one) => one.frames.includes(frame));
    const comparable = frames.filter(({ field }) => field === repeated[0]?.field);
    return repeated.length >= 2 && repeated.length * 2 > comparable.length;
  });
};

/**
 * Decision: framing is the collector's if the scan shows it, or if scans of the same collector showed it since another
 * one showed the text last, which the ad missed.
 */
const isFromCollector = (one: Comparison, ofBrand: OfBrand): boolean => {
  if (!isOfCollectors(one)) return false;
  if (normalised(one.was) === normalised(one.now)) return true;
  const { scans } = ofBrand;
  const since = scans.slice(scans.indexOf(one.before) + 1, scans.indexOf(one.scan) + 1);
  const known = since
    .filter(({ collector }) => collector === one.scan.collector)
    .flatMap((scan) => repeatedIn(scan, ofBrand));
  return framesOf(one)?.every((frame) => known.includes(frame)) ?? false;
};

/** Decision: what a scan shows of an ad that had ended, and that it shows as ended, changes the ad and is not counted. */
const isCounted = ({ ad, before }: AdAfter, scan: Scan): boolean => {
  const shown = shows(scan, ad);
  return shown !== undefined && !(before?.status === 'inactive' && isEnded(shown, scan));
};

export const changeFigures = ({ scans, looks }: Library): Record<string, ChangeFigures> => {
  const changes: Record<string, ChangeFigures> = {};
  for (const [brand, ofBrand] of looks)
    for (const { scan, ads } of ofBrand)
      for (const one of ads) {
        if (!isCounted(one, scan)) continue;
        const authors = comparisonsOf(one.ad, scan, scans)
          .filter(({ was, now }) => was !== now)
          .map((difference) => isFromCollector(difference, { looks: ofBrand, scans }));
        if (authors.length === 0) continue;
        const key = `${brand} ${dayOf(scan.at)}`;
        const { revised = 0, reworded = 0 } = changes[key] ?? {};
        changes[key] = {
          revised: revised + Number(authors.includes(false)),
          reworded: reworded + Number(authors.includes(true)),
        };
      }
  return changes;
};
