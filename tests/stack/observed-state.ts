import type { Database } from '#platform/postgres/pool.ts';
import { schemaOf } from '#services/projector/read-model-schema.ts';

/** An ad, as a text of its columns, by id; and the days of brands, by brand and date. */
export type ObservedState = {
  readonly ads: Readonly<Record<string, string>>;
  readonly days: Readonly<Record<string, string>>;
};

const ADS = `select ad_id as key, concat_ws(' | ', brand_id, status, social_page_id, format, body, title, caption, cta_type,
  link_url, countries, started_on, stopped_on, first_seen_at, inactive_since) as text from "${schemaOf('ads')}".ad`;
const DAYS = `select brand_id || ' ' || date as key, concat_ws(' | ', active_ads, new_ads, retired_ads, reliable) as text
  from "${schemaOf('daily-activity')}".day`;

/** Returns what the read models hold of each ad and day that must not depend on the order of arrival (rule 11). */
export const observedState = async (database: Database): Promise<ObservedState> => {
  const read = async (sql: string): Promise<Record<string, string>> => {
    const { rows } = await database.query<{ key: string; text: string }>(sql);
    return Object.fromEntries(rows.map(({ key, text }) => [key, text]));
  };
  return { ads: await read(ADS), days: await read(DAYS) };
};
