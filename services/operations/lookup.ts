import { uniqBy } from 'es-toolkit/array/uniqBy';
import { sortBy } from 'es-toolkit/array/sortBy';
import { z } from 'zod';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { Lookup, LOOKUP_MATCHES_MAX, type LookupMatch } from '#contracts/resources/corpus/lookup.ts';
import type { Scope } from '#contracts/values/access.ts';
import type { BrandReference } from '#contracts/resources/corpus/brand.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { appendFields, arrayText } from '#contracts/values/json-text.ts';
import { destinationDomains, destinationHost } from '#contracts/values/links/ad-destination.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import { addIdsOfAddress, noIds } from '#contracts/values/links/library-addresses.ts';
import { LibraryId, Slug, Uuid } from '#contracts/values/primitives.ts';
import { domainOfOldSlug } from '#domain/corpus/brand-slug.ts';
import { brandIdOf } from '#domain/ids.ts';
import {
  findBrand,
  listBrands,
  readBrandSummaries,
  readNewestObservation,
} from '#projections/brands/read.ts';
import {
  findAdsNamed,
  findLandingPagesNamed,
  findSocialPagesNamed,
  type Found,
} from '#projections/queries/lookup.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { brandReference } from './endpoint/examples.ts';
import { noParams, searchText } from './endpoint/parameters.ts';

/** The longest link that ads lead to has as many. */
const TEXT_MAX_LENGTH = 8_192;
const NAMES_SHOWN_MAX = 5;

/** Possible meanings of a text, by its form alone. */
type Named = {
  readonly ads: readonly string[];
  readonly socialPages: readonly string[];
  readonly usernames: readonly string[];
  /** Host first, then its parents. */
  readonly domains: readonly string[];
  readonly landingPages: readonly string[];
  readonly brand: string | null;
  readonly name: string | null;
};

const NETWORK = /^(?:https?:\/\/)?(?:[\w-]+\.)*(?:facebook|fb|instagram)\.com\//i;
const USERNAME =
  /^(?:(?:https?:\/\/)?(?:[\w-]+\.)*(?:facebook|fb|instagram)\.com\/|@)([\w.]{2,64})\/?(?:[?#]|$)/i;
const ADDRESS = /^(?:(?:https?:)?\/\/|[^\s/?#@]+\.(?:xn--[a-z\d-]+|\p{L}{2,})\.?(?:[:/?#]|$))/iu;

/** The domain of an e-mail address. */
const MAIL = /^[^\s@/]+@([^\s@/?#]+)$/;

const NOTHING: Named = {
  ads: [],
  socialPages: [],
  usernames: [],
  domains: [],
  landingPages: [],
  brand: null,
  name: null,
};

const namedIn = (text: string): Named => {
  if (LibraryId.safeParse(text).success) return { ...NOTHING, ads: [text], socialPages: [text] };
  if (Uuid.safeParse(text).success) return { ...NOTHING, brand: text.toLowerCase() };
  if (NETWORK.test(text)) {
    const ids = noIds();
    addIdsOfAddress(ids, 'ad', text);
    addIdsOfAddress(ids, 'page', text);
    const username = USERNAME.exec(text)?.[1]?.toLowerCase();
    return {
      ...NOTHING,
      ads: [...ids.ads],
      socialPages: [...ids.pages.union(ids.near)],
      usernames: username === undefined || ids.near.has(username) ? [] : [username],
    };
  }
  const username = USERNAME.exec(text)?.[1]?.toLowerCase();
  if (username !== undefined) return { ...NOTHING, usernames: [username] };
  const domainOfMail = MAIL.exec(text)?.[1];
  if (domainOfMail !== undefined)
    return { ...NOTHING, domains: destinationDomains(`https://${domainOfMail}`) };
  if (ADDRESS.test(text)) {
    const link = /^https?:/i.test(text) ? text : `https://${text.replace(/^\/\//, '')}`;
    const page = landingPageOf(link);
    return {
      ...NOTHING,
      domains: destinationDomains(link),
      landingPages: page === null ? [] : [page.landing_page_id],
      // A brand may be named like a domain.
      name: link === text ? null : text,
    };
  }
  return { ...NOTHING, brand: Slug.safeParse(text).success ? text : null, name: text };
};

/** The address becomes a path. */
const parseBrand = (text: string): Reference => JSON.parse(text.replaceAll(BASE_URL_MARK, '')) as Reference;

type Reference = z.infer<typeof BrandReference>;
type Draft = Omit<LookupMatch, 'brand' | 'url'> & { readonly brand_id: string | null };

const draft = (
  kind: LookupMatch['kind'],
  { id, name, brand_id }: Found,
  certainty: LookupMatch['certainty'],
  reason: string,
): Draft => ({ kind, id, name, brand_id, certainty, reason });

const brandDraft = (id: string, certainty: LookupMatch['certainty'], reason: string): Draft =>
  draft('brand', { id, name: null, brand_id: id }, certainty, reason);

const brandsNamed = async (db: ReadDatabase, { brand, name, domains }: Named): Promise<readonly Draft[]> => {
  const [found, listed] = await Promise.all([
    brand === null ? null : findBrand(db, Uuid.safeParse(brand).success ? { id: brand } : { slug: brand }),
    name === null
      ? { items: [] }
      : listBrands(db, { q: name, sort: 'active_ads' }, { limit: NAMES_SHOWN_MAX, after: null }),
  ]);
  const byName = listed.items.map((item) => {
    const { id, name: own } = parseBrand(item);
    return own.toLowerCase() === name?.toLowerCase()
      ? brandDraft(id, 'exact', 'It is the name of the brand.')
      : brandDraft(id, 'likely', 'The name of the brand contains the text.');
  });
  return [
    ...(found === null ? [] : [brandDraft(found.brand_id, 'exact', 'It is the id or slug of the brand.')]),
    ...(brand === null || found !== null
      ? []
      : [brandDraft(brandIdOf(domainOfOldSlug(brand)), 'exact', 'It is an older slug of the brand.')]),
    ...domains.map((domain, index) =>
      index === 0
        ? brandDraft(brandIdOf(domain), 'exact', `${domain} is the domain of the brand.`)
        : brandDraft(
            brandIdOf(domain),
            'likely',
            `${domain} is the domain of the brand, and above the host.`,
          ),
    ),
    ...byName,
  ];
};

const pathOf = ({ kind, id }: Draft, brand: Reference | null): string | null => {
  if (kind === 'ad') return `/v1/ads/${id}`;
  if (kind === 'landing_page') return `/v1/pages/${id}`;
  if (brand === null) return null;
  return kind === 'social_page' ? `${brand.url}/social-pages` : brand.url;
};

/** Keeps the stored text of the brand, whose addresses begin with the mark. */
const matchText = (one: Draft, reference: string | undefined): string => {
  const { kind, id, name, certainty, reason } = one;
  const brand = reference === undefined ? null : parseBrand(reference);
  const path = pathOf(one, brand);
  const shown = { kind, id, name: kind === 'brand' ? (brand?.name ?? null) : name, certainty, reason };
  return appendFields(JSON.stringify(shown), {
    brand: reference ?? 'null',
    url: path === null ? 'null' : `"${BASE_URL_MARK}${path}"`,
  });
};

/** JSON texts, at most `LOOKUP_MATCHES_MAX`. */
const findMatches = async (
  db: ReadDatabase,
  text: string,
  scopes: ReadonlySet<Scope>,
): Promise<readonly string[]> => {
  const named = namedIn(text);
  const [brands, socialPages, landingPages, ads] = await Promise.all([
    brandsNamed(db, named),
    findSocialPagesNamed(db, named.socialPages, named.usernames),
    scopes.has('pages:read') ? findLandingPagesNamed(db, named.landingPages) : [],
    scopes.has('ads:read') ? findAdsNamed(db, named.ads) : [],
  ]);
  const drafts = [
    ...brands,
    ...socialPages.map((page) =>
      named.socialPages.includes(page.id)
        ? draft('social_page', page, 'exact', 'It is the id of the page in the library.')
        : draft('social_page', page, 'likely', 'The page had this username when it was last observed.'),
    ),
    ...landingPages.map((page) => draft('landing_page', page, 'exact', 'Ads lead to this address.')),
    ...ads.map((ad) => draft('ad', ad, 'exact', 'It is the id of the ad in the library.')),
  ];
  const references = await readBrandSummaries(
    db,
    drafts.flatMap(({ brand_id }) => brand_id ?? []),
  );
  const sorted = sortBy(drafts, [({ certainty }) => (certainty === 'exact' ? 0 : 1)]);
  return uniqBy(sorted, ({ kind, id }) => `${kind} ${id}`)
    .filter(({ kind, id }) => kind !== 'brand' || references.has(id))
    .slice(0, LOOKUP_MATCHES_MAX)
    .map((one) => matchText(one, references.get(one.brand_id ?? '')?.reference));
};

const adviceFor = (text: string): string => {
  const { domains, landingPages } = namedIn(text);
  if (landingPages.length > 0 && domains.length === 0)
    return `Many advertisers share ${destinationHost(text) ?? 'this host'}, so it names no brand. Look up the page of the advertiser in the ad library instead.`;
  return 'Nothing in the corpus matches, which is no evidence that no ads run. It becomes known when a scan of its page or site is collected: give the operator of this service the domain of the brand and the id of its page in the ad library.';
};

export const lookUp = endpoint({
  method: 'GET',
  path: '/v1/lookup',
  operationId: 'lookUp',
  tag: 'System',
  scope: 'brands:read',
  summary: 'Find what a text from outside names',
  description:
    'Finds brand, page or ad by a domain, any address, an e-mail address, an address of the ad library, the id of a page or an ad, a username such as `@name`, or the name of a brand. Tells how sure that is and why. Without a match `advice` tells what would make it known. Ads are found with the scope `ads:read` only, landing pages with `pages:read`.',
  params: noParams,
  query: z.strictObject({
    q: z
      .string()
      .trim()
      .pipe(searchText(TEXT_MAX_LENGTH))
      .meta({ description: 'The text, such as `shop.example` or `https://shop.example/boots`.' }),
  }),
  body: null,
  paramsExample: {},
  reply: {
    status: 200,
    shape: 'record',
    data: Lookup,
    example: {
      matches: [
        {
          kind: 'brand',
          id: brandReference.id,
          name: brandReference.name,
          brand: brandReference,
          url: brandReference.url,
          certainty: 'exact',
          reason: 'harbor-and-pine.com is the domain of the brand.',
        },
      ],
      advice: null,
    },
  },
  errors: [],
  // Replies of the corpus are shared by keys with different scopes.
  corpus: false,
  heavy: true,
  reads: ['brands', 'social-pages', 'pages', 'ads'],
  beyondContract: true,
  handler: async ({ query: { q }, caller }, { db }) => {
    const [matches, asOf] = await Promise.all([findMatches(db, q, caller.scopes), readNewestObservation(db)]);
    const advice = matches.length > 0 ? null : adviceFor(q);
    return { data: `{"matches":${arrayText(matches)},"advice":${JSON.stringify(advice)}}`, asOf };
  },
});
