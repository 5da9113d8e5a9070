import type { AdContent, Aspect, ContentChanges } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { destinationKey } from '#contracts/values/ad-destination.ts';
import { cardsKey, compareCardLinks, filledCards, textKey } from './ad-cards.ts';

/** Comparing what a scan shows of an ad with what is known of it. A blank is never a difference (rule 4). */

export const contentOf = (ad: ObservedAd): AdContent => ({
  body: ad.body,
  title: ad.title,
  link_description: ad.link_description,
  caption: ad.caption,
  cta_type: ad.cta_type,
  cta_text: ad.cta_text,
  link_url: ad.link_url,
  format: ad.format,
  platforms: ad.platforms,
  languages: ad.languages,
  media: ad.media,
  cards: ad.cards,
  versions: ad.versions,
});

/** What a scan shows of a known ad, its cards with what is known where they say nothing. */
export const contentBeside = (known: AdContent, ad: ObservedAd): AdContent => {
  const seen = contentOf(ad);
  return { ...seen, cards: filledCards(known.cards, seen.cards) };
};

type Field = keyof AdContent;
type FieldKey = (value: never) => string;

/**
 * Media addresses expire and differ in every scan, and how many of an ad's versions a scan shows varies, so
 * only which kinds there are is compared.
 */
const mediaKey = (media: AdContent['media']): string =>
  [...new Set(media.map(({ kind }) => kind))].toSorted().join();

/** Fields whose difference is a change, and the part of the ad they belong to. */
const COMPARED: readonly { readonly field: Field; readonly aspect: Aspect; readonly key: FieldKey }[] = [
  { field: 'body', aspect: 'copy', key: textKey },
  { field: 'title', aspect: 'copy', key: textKey },
  { field: 'link_description', aspect: 'copy', key: textKey },
  { field: 'cards', aspect: 'copy', key: cardsKey },
  { field: 'format', aspect: 'format', key: String as FieldKey },
  { field: 'media', aspect: 'format', key: mediaKey },
  { field: 'link_url', aspect: 'destination', key: destinationKey },
];

/** Fields that complete the record once and are not compared: their wording is the collector's. */
const COMPLETED_ONLY: readonly Field[] = ['caption', 'platforms', 'languages', 'versions'];

export const isBlank = (value: AdContent[Field]): boolean =>
  value === null ||
  (typeof value === 'string' ? value.trim() === '' : Array.isArray(value) && value.length === 0);

/** The call to action is compared by type; by label only where a source gives no type. */
const differentCta = (known: AdContent, seen: AdContent): readonly Field[] => {
  if (!isBlank(known.cta_type) && !isBlank(seen.cta_type)) {
    if (known.cta_type === seen.cta_type) return [];
    return isBlank(seen.cta_text) ? ['cta_type'] : ['cta_type', 'cta_text'];
  }
  if (isBlank(known.cta_text) || isBlank(seen.cta_text)) return [];
  const label = (text: string | null): string => textKey(text ?? '').toLowerCase();
  return label(known.cta_text) === label(seen.cta_text) ? [] : ['cta_text'];
};

export type Comparison = {
  /** Aspects that both sides show, so that they could differ. */
  readonly comparable: ReadonlySet<Aspect>;
  readonly different: ReadonlyMap<Aspect, readonly Field[]>;
  /** Fields blank until now. */
  readonly completed: readonly Field[];
};

/** `seen`: as `contentBeside` gives it. */
export const compareContent = (known: AdContent, seen: AdContent): Comparison => {
  const comparable = new Set<Aspect>();
  const different = new Map<Aspect, Field[]>();
  const completed: Field[] = [];
  const differs = (aspect: Aspect, field: Field): void => {
    different.set(aspect, [...(different.get(aspect) ?? []), field]);
  };
  for (const { field, aspect, key } of COMPARED) {
    if (isBlank(seen[field])) continue;
    if (isBlank(known[field])) {
      completed.push(field);
      continue;
    }
    comparable.add(aspect);
    if (known[field] === seen[field]) continue;
    if (key(known[field] as never) !== key(seen[field] as never)) differs(aspect, field);
  }
  if (!isBlank(known.cards) && !isBlank(seen.cards)) {
    const links = compareCardLinks(known.cards, seen.cards);
    if (links !== 'completed') comparable.add('destination');
    if (links === 'different') differs('destination', 'cards');
    else if (links === 'completed' && !different.get('copy')?.includes('cards')) completed.push('cards');
  }
  for (const field of ['cta_type', 'cta_text'] as const) {
    if (!isBlank(seen[field]) && isBlank(known[field])) completed.push(field);
  }
  if (!isBlank(known.cta_text) || !isBlank(known.cta_type)) {
    comparable.add('cta');
    const fields = differentCta(known, seen);
    if (fields.length > 0) different.set('cta', [...fields]);
  }
  for (const field of COMPLETED_ONLY) {
    if (!isBlank(seen[field]) && isBlank(known[field])) completed.push(field);
  }
  return { comparable, different, completed };
};

/**
 * Whether two texts are the same but for what stands around it: collectors keep or drop the page's own
 * labels before and after the copy.
 */
export const framesTheSameText = (known: AdContent, seen: AdContent, fields: readonly Field[]): boolean =>
  fields.every((field) => {
    const [a, b] = [known[field], seen[field]];
    if (typeof a !== 'string' || typeof b !== 'string') return false;
    const [shorter = '', longer = ''] = [textKey(a), textKey(b)].toSorted((x, y) => x.length - y.length);
    return longer.includes(shorter);
  });

export const pick = (content: AdContent, fields: readonly Field[]): Partial<AdContent> =>
  Object.fromEntries(fields.map((field) => [field, content[field]]));

export const changesOf = (known: AdContent, seen: AdContent, fields: readonly Field[]): ContentChanges =>
  Object.fromEntries(fields.map((field) => [field, { from: known[field], to: seen[field] }]));

export const withChanges = (content: AdContent, changes: ContentChanges): AdContent => ({
  ...content,
  ...Object.fromEntries(Object.entries(changes).map(([field, change]) => [field, change.to])),
});
