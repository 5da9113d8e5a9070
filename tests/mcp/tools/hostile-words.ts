import { INJECTION } from './hostile-events.ts';

/** Fields of observations whose texts advertisers and sites write. */
const WRITTEN_BY_OTHERS: ReadonlySet<string> = new Set(
  (
    'name title description body link_description caption cta_text cta_type page_name transcript ' +
    'shown_texts heard meant headings cta_texts username vendor product_type handle sku test_id'
  ).split(' '),
);

/** Names of detected tools and definitions of categories stay, because they are the service's own words. */
export const withHostileWords = <T>(value: T, field = ''): T => {
  if (typeof value === 'string')
    return (WRITTEN_BY_OTHERS.has(field) ? `${INJECTION}. ${value}` : value) as T;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((one: unknown) => withHostileWords(one, field)) as T;
  if ('type' in value && value.type === 'category.define') return value;
  const isTool = 'slug' in value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      isTool && key === 'name' ? one : withHostileWords(one, key),
    ]),
  ) as T;
};
