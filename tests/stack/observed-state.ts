import type { Database } from '#platform/postgres/pool.ts';
import { LAST_SEEN_AT, PAGE_OF_AD } from '#projections/sql/ad-age.ts';
import { schemaOf } from '#application/read-models/schema.ts';

/** An ad, as a text of its columns, by id; and the days of brands, by brand and date. */
export type ObservedState = {
  readonly ads: Readonly<Record<string, string>>;
  readonly days: Readonly<Record<string, string>>;
};

const AD_COLUMNS =
  `brand_id status social_page_id page_name format body title link_description caption cta_type cta_text
  link_url platforms languages countries media cards versions started_on stopped_on listed_on first_seen_at
  inactive_since observed_running`.split(/\s+/);
/** Fields of the working table that no read model has: novelty, and since when an ad is missing. */
const KNOWN_FIELDS = ['novelty', 'missing_since', 'basis', 'branded_content'];

const ADS = `
  select a.ad_id as key, jsonb_build_object('last_seen_at', ${LAST_SEEN_AT},
    ${AD_COLUMNS.map((column) => `'${column}', a.${column}`).join(', ')},
    ${KNOWN_FIELDS.map((field) => `'${field}', k.known->'${field}'`).join(', ')})::text as text
  from ads.ad a ${PAGE_OF_AD} left join ingest.ad k on k.ad_id = a.ad_id and k.brand_id = a.brand_id`;
const DAYS = `
  select brand_id || ' ' || date as key, (to_jsonb(d) - '{brand_id,date}'::text[])::text as text
  from "${schemaOf('daily-activity')}".day d`;

/** Returns the state that must not depend on the order of arrival (rule 11). */
export const observedState = async (database: Database): Promise<ObservedState> => {
  const read = async (sql: string): Promise<Record<string, string>> => {
    const { rows } = await database.query<{ key: string; text: string }>(sql);
    return Object.fromEntries(rows.map(({ key, text }) => [key, text]));
  };
  return { ads: await read(ADS), days: await read(DAYS) };
};
