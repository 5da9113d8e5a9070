import { BrandProfile } from '#contracts/observations/brand-profile.ts';
import { type JsonObject, isObject } from './json-object.ts';
import { type PageSigns, addressOn, metaAt } from './page-signs.ts';

const DEPTH_MAX = 4;
const ENTITIES_MAX = 500;

export const jsonLdEntities = (blocks: readonly unknown[]): readonly JsonObject[] => {
  const found: JsonObject[] = [];
  const visit = (value: unknown, depth: number): void => {
    if (depth > DEPTH_MAX || found.length >= ENTITIES_MAX) return;
    if (Array.isArray(value)) for (const item of value) visit(item, depth + 1);
    if (!isObject(value)) return;
    found.push(value);
    visit(value['@graph'], depth + 1);
  };
  visit(blocks, 0);
  return found;
};

/** Without the address of their vocabulary, such as `Organization`. */
export const typesOf = (entity: JsonObject): readonly string[] => {
  const types = entity['@type'];
  return (Array.isArray(types) ? types : [types]).flatMap((type) =>
    typeof type === 'string' ? [type.replace(/^.*[/#:]/, '')] : [],
  );
};

/** Also the first text of a list, with single spaces; `null` when there is none. */
export const textOf = (value: unknown): string | null => {
  const first: unknown = Array.isArray(value) ? value.find((item) => typeof item === 'string') : value;
  const text = typeof first === 'string' ? first.replace(/\s+/g, ' ').trim() : '';
  return text === '' ? null : text;
};

const ORGANISATION = /(Organization|Corporation|Business|Store|Shop)$/;

/** Organisations that publish the page's `WebSite` come last. */
const organisationsOf = ({ jsonLd }: Pick<PageSigns, 'jsonLd'>): readonly JsonObject[] => {
  const entities = jsonLdEntities(jsonLd);
  const publishers = entities
    .filter((entity) => typesOf(entity).includes('WebSite'))
    .map(({ publisher }) => publisher)
    .filter(isObject);
  return [...entities, ...publishers].filter((entity) =>
    typesOf(entity).some((type) => ORGANISATION.test(type)),
  );
};

const firstText = (entities: readonly JsonObject[], key: string): string | null =>
  entities.map((entity) => textOf(entity[key])).find((text) => text !== null) ?? null;

const imageOf = (value: unknown): string | null => {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(first) ? (textOf(first['url']) ?? textOf(first['contentUrl'])) : textOf(first);
};

/** Code of the first address; `null` for a country's name. */
const countryOf = (organisations: readonly JsonObject[]): string | null => {
  for (const { address } of organisations) {
    const first: unknown = Array.isArray(address) ? address[0] : address;
    const country = isObject(first) ? first['addressCountry'] : null;
    const code = textOf(isObject(country) ? country['name'] : country)?.toUpperCase();
    if (code !== undefined && /^[A-Z]{2}$/.test(code)) return code;
  }
  return null;
};

/** `legalName` in JSON-LD; `null` when absent. */
export const legalNameOf = (signs: PageSigns): string | null =>
  firstText(organisationsOf(signs), 'legalName');

/** Precedence: JSON-LD, Open Graph, meta elements. `null` without a name: a title is an advertising text. */
export const siteProfileOf = (
  signs: PageSigns,
  {
    domain,
    pageUrl,
    observedAt,
  }: { readonly domain: string; readonly pageUrl: string; readonly observedAt: string },
): BrandProfile | null => {
  const organisations = organisationsOf(signs);
  const sites = jsonLdEntities(signs.jsonLd).filter((entity) => typesOf(entity).includes('WebSite'));
  const name =
    firstText(organisations, 'name') ??
    firstText(sites, 'name') ??
    metaAt(signs, 'og:site_name', 'application-name', 'apple-mobile-web-app-title');
  if (name === null) return null;
  const icon = signs.relations.find(({ rel }) => rel.split(' ').includes('apple-touch-icon'));
  const logos = organisations.map(({ logo }) => imageOf(logo));
  const logo = [...logos, metaAt(signs, 'og:logo'), icon?.href ?? null].find((href) => href !== null);
  const parsed = BrandProfile.safeParse({
    type: 'brand.profile',
    domain,
    observed_at: observedAt,
    name,
    description: firstText(organisations, 'description') ?? metaAt(signs, 'og:description', 'description'),
    url: addressOn(pageUrl, signs.canonical) ?? pageUrl,
    logo_url: addressOn(pageUrl, logo ?? null),
    country: countryOf(organisations),
    category_path: null,
    is_public: null,
    indexable: null,
  });
  return parsed.success ? parsed.data : null;
};
