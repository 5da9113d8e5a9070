import type { ArchivePass } from './archive-cursor.ts';

/** Omits the snapshot URL, which holds the caller's token, and money and reach, which the service must not store. */
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

/** Also holds numbers of people, which are dropped at once. */
const REACHED_FIELD = 'age_country_gender_reach_breakdown';

export type ArchiveRequest = {
  readonly pass: ArchivePass;
  readonly pageIds: readonly string[];
  readonly countries: readonly string[];
  /** UTC date from which inactive ads are requested; `null` for all. */
  readonly since: string | null;
  readonly limit: number;
  /** Opaque; `null` for the first reply. */
  readonly after: string | null;
};

export type ArchiveSearch = {
  readonly phrase: string;
  readonly countries: readonly string[];
  readonly limit: number;
  readonly after: string | null;
};

/** The page of an ad, and its destination as the advertiser writes it. */
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

/** Holds no secret. `reached` requests the countries of each ad. */
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
