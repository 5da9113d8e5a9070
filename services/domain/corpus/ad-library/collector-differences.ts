import type { Aspect } from '#contracts/events/corpus/ad-library.ts';
import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { textKey } from '#contracts/values/comparison/text-key.ts';
import { differenceWith } from 'es-toolkit/array/differenceWith';
import { zip } from 'es-toolkit/array/zip';
import { isEqual } from 'es-toolkit/predicate/isEqual';
import { compareContent, withExistingCards } from './ad-content.ts';
import { differingFrames, normalise, withoutClocks, withoutFrames } from './collectors/frames.ts';
import { boundedGroups } from '#domain/event-size-limit.ts';
import type { CollectorSwitch } from './collectors/switch.ts';
import type { LibraryState } from './state.ts';

/**
 * Rule 6: collectors word the same ads differently. After a change of collector, a difference is its own only if
 * normalised texts are equal, or it repeats on most comparable ads. Otherwise it is the brand's. Destinations are never
 * the collector's.
 */

type Field = keyof AdContent;
type Card = AdContent['cards'][number];

const REPEATED_ADS_MIN = 2;
/** Only labels of buttons are longer than frames. */
const DIFFERENCE_CHARACTERS_MAX = 2_000;
/** With the pages of a large scan they fit into one append. */
const DIFFERENCES_CHARACTERS_MAX = 20_000;

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

const comparableText = (field: Field, value: AdContent[Field]): string => {
  if (field === 'media') {
    return [...new Set((value as AdContent['media']).map(({ kind }) => kind))].toSorted().join();
  }
  return typeof value === 'string' ? textKey(value) : '';
};

const ELLIPSIS = /(?:…|\.\.\.)$/;
const isCutOff = (text: string, whole: string): boolean =>
  ELLIPSIS.test(text) && whole.startsWith(text.replace(ELLIPSIS, '').trim());

type NamedText = readonly [name: string, text: string];

const textsOfCard = ({ title, body }: Card): readonly NamedText[] => [
  ['cards.title', textKey(title ?? '')],
  ['cards.body', textKey(body ?? '')],
];

/** `null` when the number of cards differs. */
const differingCardTexts = (
  before: readonly Card[],
  after: readonly Card[],
): readonly (readonly [NamedText, NamedText])[] | null => {
  const [old, now] = [before.map(textsOfCard), after.map(textsOfCard)];
  const changed = differenceWith(old, now, isEqual);
  const others = differenceWith(now, old, isEqual);
  if (changed.length !== others.length) return null;
  return zip(changed.flat(), others.flat()).filter(([one, other]) => !isEqual(one, other));
};

const textDifferences = (name: string, a: string, b: string): readonly string[] | null => {
  if (a === '' || b === '') return null;
  if (isCutOff(b, a) || isCutOff(a, b)) return [`${name} cut off`];
  return differingFrames(name, a, b);
};

/** Equal for the same difference on another ad; `null` when it cannot repeat. */
const differencesBetween = (
  field: Field,
  before: AdContent[Field],
  after: AdContent[Field],
): readonly string[] | null => {
  if (field === 'cards') {
    const texts = differingCardTexts(before as AdContent['cards'], after as AdContent['cards']);
    const differences = texts?.map(([[name, a], [, b]]) => textDifferences(name, a, b)) ?? [null];
    return differences.every((one) => one !== null) ? [...new Set(differences.flat())] : null;
  }
  const [a, b] = [comparableText(field, before), comparableText(field, after)];
  return TEXTS.has(field) ? textDifferences(field, a, b) : [`${field} ${a} > ${b}`];
};

const bareKey = (
  field: Field,
  value: AdContent[Field],
  sign: '+' | '-',
  differences: readonly string[],
): string => {
  const bare = ([name, text]: NamedText): string => normalise(withoutFrames(name, sign, text, differences));
  if (field !== 'cards') return bare([field, comparableText(field, value)]);
  return (value as AdContent['cards'])
    .map((card) => textsOfCard(card).map(bare).join('|'))
    .toSorted()
    .join('\n');
};

/** `differences`: those that repeat on most ads. */
export const isCollectorDifference = (
  field: Field,
  before: AdContent[Field],
  after: AdContent[Field],
  differences: readonly string[],
): boolean => {
  if (field === 'link_url') return false;
  if (bareKey(field, before, '-', []) === bareKey(field, after, '+', [])) return true;
  const repeats = (one: string): boolean =>
    differences.includes(one) || differences.includes(withoutClocks(one));
  if (differencesBetween(field, before, after)?.every(repeats)) return true;
  return bareKey(field, before, '-', differences) === bareKey(field, after, '+', differences);
};

export type DifferenceTally = {
  readonly comparable: Map<Field, number>;
  readonly repeated: Map<string, number>;
};

export const emptyTally = (): DifferenceTally => ({ comparable: new Map(), repeated: new Map() });

const addCounts = <Key>(counts: Map<Key, number>, more: ReadonlyMap<Key, number>): void => {
  for (const [key, count] of more) counts.set(key, (counts.get(key) ?? 0) + count);
};

/** Changes the first tally in place. */
export const addTally = (tally: DifferenceTally, more: DifferenceTally): DifferenceTally => {
  addCounts(tally.comparable, more.comparable);
  addCounts(tally.repeated, more.repeated);
  return tally;
};

const FIELDS = Object.keys(ASPECT_OF_FIELD) as readonly Field[];

const isPresent = (value: AdContent[Field]): boolean =>
  typeof value === 'string' ? value.trim() !== '' : value !== null && value.length > 0;

/** Changes the tally in place. Fields that the scan's own collector showed last do not count. */
export const tallyDifferences =
  ({ differencesOf }: CollectorSwitch, ads: readonly ObservedAd[], tally: DifferenceTally) =>
  (state: LibraryState): DifferenceTally => {
    const add = <Key>(counts: Map<Key, number>, key: Key): void => {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    };
    for (const ad of ads) {
      const existing = state.ads.get(ad.ad_id);
      if (!existing) continue;
      const seen = withExistingCards(existing.content, ad);
      const compared = FIELDS.filter(
        (field) =>
          isPresent(existing.content[field]) &&
          isPresent(seen[field]) &&
          differencesOf(existing, field) !== null,
      );
      if (compared.length === 0) continue;
      for (const field of compared) add(tally.comparable, field);
      const { different } = compareContent(existing.content, seen);
      for (const field of new Set([...different.values()].flat())) {
        if (!compared.includes(field)) continue;
        const own = differencesBetween(field, existing.content[field], seen[field]) ?? [];
        for (const one of new Set([...own, ...own.map(withoutClocks)])) add(tally.repeated, one);
      }
    }
    return tally;
  };

const fieldOf = (difference: string): Field => difference.slice(0, difference.search(/[ .]/)) as Field;

/** On more than half of the comparable ads, and on two. Omits differences of any clocks that repeat with equal ones. */
export const repeatedDifferences = ({ comparable, repeated }: DifferenceTally): readonly string[] => {
  const most = [...repeated]
    .filter(
      ([difference, ads]) => ads >= REPEATED_ADS_MIN && ads * 2 > (comparable.get(fieldOf(difference)) ?? 0),
    )
    .map(([difference]) => difference);
  const inFull = new Set(most.filter((one) => withoutClocks(one) !== one).map(withoutClocks));
  const kept = most.filter((one) => !inFull.has(one) && one.length <= DIFFERENCE_CHARACTERS_MAX).toSorted();
  return boundedGroups(kept, DIFFERENCES_CHARACTERS_MAX)[0] ?? [];
};

export const aspectsOf = (differences: readonly string[]): readonly Aspect[] => [
  ...new Set(differences.map((difference) => ASPECT_OF_FIELD[fieldOf(difference)] ?? 'copy')),
];
