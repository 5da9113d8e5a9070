import type { ArchivePass } from './archive-cursor.ts';

/**
 * Fields that are requested. The address of the snapshot holds the caller's token, and money and reach are not ours to know:
 * none of them is in the list.
 */
const FIELDS = [
  'id',
  'page_id',
  'page_name',
  'ad_delivery_start_time',
  'ad_delivery_stop_time',
  'ad_creative_bodies',
  'ad_creative_link_titles',
  'ad_creative_link_captions',
  'ad_creative_link_descriptions',
  'languages',
  'publisher_platforms',
];

/** Field with the countries that an ad reached. It also has numbers of people, which are dropped at once. */
const REACHED_FIELD = 'age_country_gender_reach_breakdown';

/** One call for ads of a few pages. */
export type ArchiveRequest = {
  readonly pass: ArchivePass;
  /** At most `PAGES_PER_CALL_MAX`. */
  readonly pageIds: readonly string[];
  readonly countries: readonly string[];
  /** UTC date from which inactive ads are requested; `null` for all. */
  readonly since: string | null;
  readonly limit: number;
  /** Cursor of the answer before; `null` for the first one. It is opaque. */
  readonly after: string | null;
};

/** One call for ads that contain a phrase, active or not. */
export type ArchiveSearch = {
  readonly phrase: string;
  readonly countries: readonly string[];
  readonly limit: number;
  readonly after: string | null;
};

/** Fields that tell which page an ad is of, and where it leads by the words of its advertiser. */
const SEARCH_FIELDS = ['id', 'page_id', 'page_name', 'ad_creative_link_captions'];

const listOf = (texts: readonly string[]): string => `[${texts.join(',')}]`;

const searchParameters = ({ phrase, countries, limit, after }: ArchiveSearch): URLSearchParams =>
  new URLSearchParams({
    search_terms: phrase,
    search_type: 'KEYWORD_EXACT_PHRASE',
    ad_reached_countries: listOf(countries.map((country) => `'${country}'`)),
    ad_active_status: 'ALL',
    ad_type: 'ALL',
    fields: SEARCH_FIELDS.join(','),
    limit: String(limit),
    ...(after === null ? {} : { after }),
  });

/** Returns the parameters of a call, without anything secret. `reached` asks for the countries of each ad too. */
export const archiveParameters = (
  request: ArchiveRequest | ArchiveSearch,
  reached = false,
): URLSearchParams => {
  if ('phrase' in request) return searchParameters(request);
  const { pass, pageIds, countries, since, limit, after } = request;
  return new URLSearchParams({
    search_page_ids: listOf(pageIds),
    ad_reached_countries: listOf(countries.map((country) => `'${country}'`)),
    ad_active_status: pass === 'inactive' ? 'INACTIVE' : 'ACTIVE',
    ad_type: 'ALL',
    fields: (reached ? [...FIELDS, REACHED_FIELD] : FIELDS).join(','),
    limit: String(limit),
    ...(pass === 'inactive' && since !== null ? { ad_delivery_date_min: since } : {}),
    ...(after === null ? {} : { after }),
  });
};
