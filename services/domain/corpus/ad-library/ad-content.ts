import { isEqual } from 'es-toolkit/predicate/isEqual';
import type { Aspect, ContentChanges } from '#contracts/events/corpus/ad-library.ts';
import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { destinationKey } from '#contracts/values/links/ad-destination.ts';
import { copyKey, isBlankText, textKey } from '#contracts/values/comparison/text-key.ts';
import { cardsKey, compareCardLinks, fillCards, shownKey } from './ad-cards.ts';

/** A blank is never a difference (rule 4). */

const textOf = (text: string | null): string | null => (isBlank(text) ? null : text);

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

/** Fills blanks of the cards from the existing cards. */
export const withExistingCards = (existing: AdContent, ad: ObservedAd): AdContent => {
  const seen = contentOf(ad);
  return { ...seen, cards: fillCards(existing.cards, seen.cards) };
};

type Field = keyof AdContent;
type FieldKey = (value: never) => string;

/** Only kinds are compared: media addresses expire and differ in every scan, and the number of versions varies. */
export const mediaKey = (media: AdContent['media']): string =>
  [...new Set(media.map(({ kind }) => kind))].toSorted().join();

const COMPARED: readonly { readonly field: Field; readonly aspect: Aspect; readonly key: FieldKey }[] = [
  { field: 'body', aspect: 'copy', key: copyKey },
  { field: 'title', aspect: 'copy', key: copyKey },
  { field: 'link_description', aspect: 'copy', key: copyKey },
  { field: 'cards', aspect: 'copy', key: cardsKey },
  { field: 'format', aspect: 'format', key: String as FieldKey },
  { field: 'media', aspect: 'format', key: mediaKey },
  { field: 'link_url', aspect: 'destination', key: destinationKey },
];

/** The newest value counts without being a change: the collector words these fields, or their parts vary by scan. */
const TAKEN_ONLY: readonly { readonly field: Field; readonly key: FieldKey }[] = [
  { field: 'caption', key: JSON.stringify },
  { field: 'platforms', key: (names: readonly string[]) => JSON.stringify(names.toSorted()) },
  { field: 'languages', key: (names: readonly string[]) => JSON.stringify(names.toSorted()) },
  { field: 'versions', key: shownKey },
];

const labelKey = (text: string): string => textKey(text).toLowerCase();

const VERSION_KEYS = {
  body: copyKey,
  title: copyKey,
  link_description: copyKey,
  cta_text: labelKey,
  link_url: destinationKey,
} as const;
type VersionField = keyof typeof VERSION_KEYS;

const isVersionField = (field: Field): field is VersionField => field in VERSION_KEYS;

type Values = ReadonlySet<string>;

const versionValues = ({ versions }: AdContent, field: VersionField): Values =>
  new Set(versions.flatMap(({ [field]: text }) => (isBlank(text) ? [] : VERSION_KEYS[field](text ?? ''))));

/** Falls back to the ad's own value: versions without the field are from an earlier scan. */
const valuesOf = (content: AdContent, field: VersionField): Values => {
  const own = VERSION_KEYS[field](content[field] ?? '');
  const values = versionValues(content, field);
  return values.has(own) ? values : new Set([own]);
};

const isOneWithin = (one: Values, other: Values): boolean => one.isSubsetOf(other) || other.isSubsetOf(one);

/** One side shows all that the other does: order and number of versions vary by scan. */
const haveSameVersions = (existing: AdContent, seen: AdContent, field: VersionField): boolean =>
  existing.versions.length + seen.versions.length > 0 &&
  isOneWithin(valuesOf(existing, field), valuesOf(seen, field));

const hasOtherVersions = (existing: AdContent, seen: AdContent): boolean =>
  !isEqual(existing.versions, seen.versions) &&
  (['body', 'title', 'link_description'] as const).some((field) => {
    const [before, now] = [versionValues(existing, field), versionValues(seen, field)];
    const isCurrent = isBlank(existing[field]) || before.has(VERSION_KEYS[field](existing[field] ?? ''));
    return isCurrent && !isOneWithin(before, now);
  });

export const isBlank = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'string' ? isBlankText(value) : Array.isArray(value) && value.length === 0);

/** Compared by type, or by label if one side has no type. */
const differentCta = (existing: AdContent, seen: AdContent): readonly Field[] => {
  if (!isBlank(existing.cta_type) && !isBlank(seen.cta_type)) {
    if (existing.cta_type === seen.cta_type) return [];
    return isBlank(seen.cta_text) ? ['cta_type'] : ['cta_type', 'cta_text'];
  }
  if (isBlank(existing.cta_text) || isBlank(seen.cta_text)) return [];
  const label = (text: string | null): string => labelKey(text ?? '');
  return label(existing.cta_text) === label(seen.cta_text) ? [] : ['cta_text'];
};

export type Comparison = {
  /** Aspects that both sides show. */
  readonly comparable: ReadonlySet<Aspect>;
  readonly different: ReadonlyMap<Aspect, readonly Field[]>;
  /** Blank before, or taken without being a change of the ad. */
  readonly completed: readonly Field[];
};

/** Expects `seen` as returned by `withExistingCards`. */
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
    if (isEqual(existing[field], seen[field])) continue;
    if (key(existing[field] as never) === key(seen[field] as never)) continue;
    if (isVersionField(field) && haveSameVersions(existing, seen, field)) completed.push(field);
    else differs(aspect, field);
  }
  if (hasOtherVersions(existing, seen)) differs('copy', 'versions');
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
    if (fields.length > 0 && haveSameVersions(existing, seen, 'cta_text')) completed.push(...fields);
    else if (fields.length > 0) different.set('cta', [...fields]);
  }
  for (const { field, key } of TAKEN_ONLY) {
    if (isBlank(seen[field]) || different.get('copy')?.includes(field)) continue;
    if (isEqual(existing[field], seen[field])) continue;
    if (isBlank(existing[field]) || key(seen[field] as never) !== key(existing[field] as never))
      completed.push(field);
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
