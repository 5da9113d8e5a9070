import type { Aspect, ContentChanges } from '#contracts/events/corpus/ad-library.ts';
import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { destinationKey } from '#contracts/values/links/ad-destination.ts';
import { cardsKey, compareCardLinks, fillCards, textKey } from './ad-cards.ts';

/** Comparison of the content of an ad in a scan with its recorded content. A blank is never a difference (rule 4). */

const textOf = (text: string | null): string | null => (isBlank(text) ? null : text);

/** Returns the content that a scan shows of an ad. Blank texts become `null`. */
export const contentOf = (ad: ObservedAd): AdContent => ({
  body: textOf(ad.body),
  title: textOf(ad.title),
  link_description: textOf(ad.link_description),
  caption: textOf(ad.caption),
  cta_type: textOf(ad.cta_type),
  cta_text: textOf(ad.cta_text),
  link_url: textOf(ad.link_url),
  format: ad.format,
  platforms: ad.platforms,
  languages: ad.languages,
  media: ad.media,
  cards: ad.cards,
  versions: ad.versions,
});

/** Returns the content that a scan shows of an existing ad, with blanks in its cards filled from the existing cards. */
export const withExistingCards = (existing: AdContent, ad: ObservedAd): AdContent => {
  const seen = contentOf(ad);
  return { ...seen, cards: fillCards(existing.cards, seen.cards) };
};

type Field = keyof AdContent;
type FieldKey = (value: never) => string;

/**
 * Returns the distinct kinds of media. Only the kinds are compared: media addresses expire and differ in every scan,
 * and the number of versions that a scan shows of an ad varies.
 */
const mediaKey = (media: AdContent['media']): string =>
  [...new Set(media.map(({ kind }) => kind))].toSorted().join();

/** Fields in which a difference is a change, each with the aspect of the ad it belongs to. */
const COMPARED: readonly { readonly field: Field; readonly aspect: Aspect; readonly key: FieldKey }[] = [
  { field: 'body', aspect: 'copy', key: textKey },
  { field: 'title', aspect: 'copy', key: textKey },
  { field: 'link_description', aspect: 'copy', key: textKey },
  { field: 'cards', aspect: 'copy', key: cardsKey },
  { field: 'format', aspect: 'format', key: String as FieldKey },
  { field: 'media', aspect: 'format', key: mediaKey },
  { field: 'link_url', aspect: 'destination', key: destinationKey },
];

/** Fields whose newest value is taken without being a change of the ad, because their wording comes from the collector. */
const TAKEN_ONLY: readonly Field[] = ['caption', 'platforms', 'languages'];
/** Fields that are filled once, because scans show a varying number of their parts. */
const FILLED_ONCE: readonly Field[] = ['versions'];

const takenKey = (value: AdContent[Field]): string =>
  Array.isArray(value) ? JSON.stringify([...(value as readonly string[])].toSorted()) : JSON.stringify(value);

/** True for a value that shows nothing (rule 4). */
export const isBlank = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'string' ? value.trim() === '' : Array.isArray(value) && value.length === 0);

/**
 * Returns the fields in which the call to action differs. It is compared by type, or by label if one side has no type.
 */
const differentCta = (existing: AdContent, seen: AdContent): readonly Field[] => {
  if (!isBlank(existing.cta_type) && !isBlank(seen.cta_type)) {
    if (existing.cta_type === seen.cta_type) return [];
    return isBlank(seen.cta_text) ? ['cta_type'] : ['cta_type', 'cta_text'];
  }
  if (isBlank(existing.cta_text) || isBlank(seen.cta_text)) return [];
  const label = (text: string | null): string => textKey(text ?? '').toLowerCase();
  return label(existing.cta_text) === label(seen.cta_text) ? [] : ['cta_text'];
};

export type Comparison = {
  /** Aspects that both sides show. */
  readonly comparable: ReadonlySet<Aspect>;
  readonly different: ReadonlyMap<Aspect, readonly Field[]>;
  /** Fields that were blank before, or whose newest value is taken without being a change of the ad. */
  readonly completed: readonly Field[];
};

/** Compares the existing content with the seen one. Expects `seen` as returned by `withExistingCards`. */
export const compareContent = (existing: AdContent, seen: AdContent): Comparison => {
  const comparable = new Set<Aspect>();
  const different = new Map<Aspect, Field[]>();
  const completed: Field[] = [];
  const differs = (aspect: Aspect, field: Field): void => {
    different.set(aspect, [...(different.get(aspect) ?? []), field]);
  };
  for (const { field, aspect, key } of COMPARED) {
    if (isBlank(seen[field])) continue;
    if (isBlank(existing[field])) {
      completed.push(field);
      continue;
    }
    comparable.add(aspect);
    if (existing[field] === seen[field]) continue;
    if (key(existing[field] as never) !== key(seen[field] as never)) differs(aspect, field);
  }
  if (!isBlank(existing.cards) && !isBlank(seen.cards)) {
    const links = compareCardLinks(existing.cards, seen.cards);
    if (links !== 'completed') comparable.add('destination');
    if (links === 'different') differs('destination', 'cards');
    else if (links === 'completed' && !different.get('copy')?.includes('cards')) completed.push('cards');
  }
  for (const field of ['cta_type', 'cta_text'] as const) {
    if (!isBlank(seen[field]) && isBlank(existing[field])) completed.push(field);
  }
  if (!isBlank(existing.cta_text) || !isBlank(existing.cta_type)) {
    comparable.add('cta');
    const fields = differentCta(existing, seen);
    if (fields.length > 0) different.set('cta', [...fields]);
  }
  for (const field of FILLED_ONCE) {
    if (!isBlank(seen[field]) && isBlank(existing[field])) completed.push(field);
  }
  for (const field of TAKEN_ONLY) {
    if (!isBlank(seen[field]) && takenKey(seen[field]) !== takenKey(existing[field])) completed.push(field);
  }
  return { comparable, different, completed };
};

export const pick = (content: AdContent, fields: readonly Field[]): Partial<AdContent> =>
  Object.fromEntries(fields.map((field) => [field, content[field]]));

export const changesOf = (existing: AdContent, seen: AdContent, fields: readonly Field[]): ContentChanges =>
  Object.fromEntries(fields.map((field) => [field, { from: existing[field], to: seen[field] }]));

export const withChanges = (content: AdContent, changes: ContentChanges): AdContent => ({
  ...content,
  ...Object.fromEntries(Object.entries(changes).map(([field, change]) => [field, change.to])),
});
