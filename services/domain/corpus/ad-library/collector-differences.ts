import type { Aspect } from '#contracts/events/corpus/ad-library.ts';
import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { escapeRegExp } from 'es-toolkit/string/escapeRegExp';
import { compareContent, withExistingCards } from './ad-content.ts';
import { cardsKey, textKey } from './ad-cards.ts';
import type { ScanHeader } from './scan.ts';
import { collectorOf, type LibraryState, NO_PAGE } from './state.ts';

/**
 * Rule 6: collectors word the same ads differently. When the collector changes, a difference is attributed to it in
 * two cases only: the texts are equal after normalisation, or the same difference repeats on most comparable ads. Any
 * other difference is a change by the brand, however many ads differ. Destinations are never the collector's.
 */

type Field = keyof AdContent;

/** Text before or after the copy that one collector keeps and the other drops is at most this many characters long. */
const FRAME_CHARACTERS_MAX = 200;
/** Ads on which a difference must repeat at least. One ad alone shows nothing about its collector. */
const REPEATED_ADS_MIN = 2;

const TEXTS: ReadonlySet<Field> = new Set(['body', 'title', 'link_description']);
const ASPECT_OF_FIELD: Partial<Record<Field, Aspect>> = {
  body: 'copy',
  title: 'copy',
  link_description: 'copy',
  cards: 'copy',
  cta_type: 'cta',
  cta_text: 'cta',
  format: 'format',
  media: 'format',
};

/** Returns a text without what collectors write differently: case, white space, quotes, dashes, invisible characters. */
const normalise = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[\p{Cf}\u{fe00}-\u{fe0f}]/gu, '')
    .replace(/[‘’‚‛′`]/g, "'")
    .replace(/[“”„‟″]/g, '"')
    .replace(/\p{Pd}/gu, '-')
    .replace(/\s+/g, '')
    .toLowerCase();

const comparableText = (field: Field, value: AdContent[Field]): string => {
  if (field === 'cards') return cardsKey(value as AdContent['cards']);
  if (field === 'media') {
    return [...new Set((value as AdContent['media']).map(({ kind }) => kind))].toSorted().join();
  }
  return typeof value === 'string' ? textKey(value) : '';
};

/** Returns a piece of text as a pattern: numbers differ from ad to ad, as in the timer of a video. */
const patternOf = (piece: string): string => piece.trim().replace(/\d+/g, '#');

const framesOf = (
  field: Field,
  sign: '+' | '-',
  longer: string,
  shorter: string,
): readonly string[] | null => {
  const start = longer.indexOf(shorter);
  const pieces = [
    ['prefix', longer.slice(0, start)],
    ['suffix', longer.slice(start + shorter.length)],
  ] as const;
  if (pieces.some(([, piece]) => piece.length > FRAME_CHARACTERS_MAX)) return null;
  return pieces
    .filter(([, piece]) => piece.trim() !== '')
    .map(([side, piece]) => `${field} ${sign}${side} ${patternOf(piece)}`);
};

const ELLIPSIS = /(?:…|\.\.\.)$/;
const isCutOff = (text: string, whole: string): boolean =>
  ELLIPSIS.test(text) && whole.startsWith(text.replace(ELLIPSIS, '').trim());

/**
 * Returns the differences between two values of a field, in a form in which the same difference on another ad is equal;
 * `null` when this difference cannot repeat.
 */
const differencesOf = (
  field: Field,
  before: AdContent[Field],
  after: AdContent[Field],
): readonly string[] | null => {
  const [a, b] = [comparableText(field, before), comparableText(field, after)];
  if (field === 'cards') return null;
  if (!TEXTS.has(field)) return [`${field} ${a} > ${b}`];
  if (isCutOff(b, a) || isCutOff(a, b)) return [`${field} cut off`];
  if (b.includes(a)) return framesOf(field, '+', b, a);
  if (a.includes(b)) return framesOf(field, '-', a, b);
  return null;
};

/** Returns the text without the frames that repeat. */
const withoutFrames = (
  field: Field,
  sign: '+' | '-',
  text: string,
  differences: readonly string[],
): string => {
  let bare = text;
  for (const side of ['prefix', 'suffix'] as const) {
    const start = `${field} ${sign}${side} `;
    for (const difference of differences) {
      if (!difference.startsWith(start)) continue;
      const pattern = escapeRegExp(difference.slice(start.length)).replaceAll('#', String.raw`\d+`);
      bare = bare.replace(new RegExp(side === 'prefix' ? `^${pattern}` : `${pattern}$`), '').trim();
    }
  }
  return bare;
};

/** True when a difference in this field is the collector's. `differences` are those that repeat on most ads. */
export const isCollectorDifference = (
  field: Field,
  before: AdContent[Field],
  after: AdContent[Field],
  differences: readonly string[],
): boolean => {
  if (field === 'link_url') return false;
  const [a, b] = [comparableText(field, before), comparableText(field, after)];
  if (normalise(a) === normalise(b)) return true;
  const own = differencesOf(field, before, after);
  if (own !== null && own.every((difference) => differences.includes(difference))) return true;
  if (!TEXTS.has(field)) return false;
  const [bareBefore, bareAfter] = [
    withoutFrames(field, '-', a, differences),
    withoutFrames(field, '+', b, differences),
  ];
  return (bareBefore !== a || bareAfter !== b) && normalise(bareBefore) === normalise(bareAfter);
};

/** Number of ads per field that can be compared across the change of collector, and per difference. */
export type DifferenceTally = {
  readonly comparable: Map<Field, number>;
  readonly repeated: Map<string, number>;
};

export const emptyTally = (): DifferenceTally => ({ comparable: new Map(), repeated: new Map() });

/** True when the scan's collector differs from the recorded collector of one of its pages, so that rule 6 applies. */
export const collectorChanged = (
  scan: Pick<ScanHeader, 'pages' | 'collector'>,
  state: LibraryState,
): boolean =>
  scan.pages.some(({ page_id }) => {
    const page = state.pages.get(page_id);
    return page !== undefined && page.collector !== scan.collector;
  });

const FIELDS = Object.keys(ASPECT_OF_FIELD) as readonly Field[];

const isPresent = (value: AdContent[Field]): boolean =>
  typeof value === 'string' ? value.trim() !== '' : value !== null && value.length > 0;

/** Adds the ads to the tally, in place, and returns it. Ads last seen by the same collector do not count. */
export const tallyDifferences =
  (scan: Pick<ScanHeader, 'collector'>, ads: readonly ObservedAd[], tally: DifferenceTally) =>
  (state: LibraryState): DifferenceTally => {
    const add = <Key>(counts: Map<Key, number>, key: Key): void => {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    };
    for (const ad of ads) {
      const existing = state.ads.get(ad.ad_id);
      if (!existing || collectorOf(existing, state.pages.get(existing.page_id ?? NO_PAGE)) === scan.collector)
        continue;
      const seen = withExistingCards(existing.content, ad);
      for (const field of FIELDS) {
        if (isPresent(existing.content[field]) && isPresent(seen[field])) add(tally.comparable, field);
      }
      const { different } = compareContent(existing.content, seen);
      for (const field of new Set([...different.values()].flat())) {
        if (field === 'link_url') continue;
        for (const one of differencesOf(field, existing.content[field], seen[field]) ?? []) {
          add(tally.repeated, one);
        }
      }
    }
    return tally;
  };

const fieldOf = (difference: string): Field => difference.slice(0, difference.indexOf(' ')) as Field;

/** Returns the differences that repeat on more than half of the comparable ads, and on at least two. */
export const repeatedDifferences = ({ comparable, repeated }: DifferenceTally): readonly string[] =>
  [...repeated]
    .filter(
      ([difference, ads]) => ads >= REPEATED_ADS_MIN && ads * 2 > (comparable.get(fieldOf(difference)) ?? 0),
    )
    .map(([difference]) => difference)
    .toSorted();

/** Returns the aspects of ads that the differences are about. */
export const aspectsOf = (differences: readonly string[]): readonly Aspect[] => [
  ...new Set(differences.map((difference) => ASPECT_OF_FIELD[fieldOf(difference)] ?? 'copy')),
];
