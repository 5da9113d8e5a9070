import type { z } from 'zod';
import { DAY_MS, isoTimeMicrosSql, isoTimeSql, utcDateOfMs } from '#contracts/values/time.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK, BASE_URL_SQL, unescapeBaseUrl } from '#contracts/values/base-url.ts';
import { mediaUrlOf, posterUrlOf, unescapeStoredMedia } from '#contracts/values/media/stored-media.ts';
import type { Page } from '#contracts/ports/read-database.ts';
import type { SiteTool } from '#contracts/events/corpus/site.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import type { Evidence, Signal } from '#contracts/resources/workspace/signal.ts';
import { SIGNAL_THRESHOLDS, type SignalKind } from '#contracts/values/signals.ts';
import { pageOfRows } from './pages.ts';
import { type Fragment, raw, sql } from './sql-tag.ts';
import { BRAND_REFERENCE_SQL } from '../shared-tables/brand-reference.ts';
import type { Change, Statement } from '../define-projection.ts';

/** JSON string, or `null`, from text that needs no escaping. */
export const quoted = (text: string): string => `coalesce('"' || ${text} || '"', 'null')`;

/** Freshness object of `f`, a row of `freshness.brand`. Without a scan its times are null. */
export const freshnessText = (tierOtherwise: string): string => `coalesce(f.freshness,
  '{"as_of":null,"last_reliable_at":null,"next_due":null,"freshness_tier":"' || ${tierOtherwise} || '"}')`;

export type CreativeRow = {
  readonly creative_id: string;
  readonly ad_id: string;
  readonly brand_id: string;
  readonly creative_key: string;
  readonly media_kind: string;
  readonly content_type: string | null;
  readonly bytes: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly duration_seconds: number | null;
  readonly media_url: string | null;
  readonly object_key: string | null;
  readonly poster_url: string | null;
  readonly poster_object_key: string | null;
  readonly ad_active: boolean;
  readonly first_seen_at: string;
  readonly as_of: string;
  readonly listed_on: string;
};

export const CREATIVE_COLUMNS = `c.creative_id, c.ad_id, c.brand_id, c.creative_key, f.media_kind, f.content_type,
  f.bytes::text, f.width, f.height, f.duration_seconds, f.media_url, f.object_key, f.poster_url, f.poster_object_key, coalesce(a.active, true) as ad_active,
  ${isoTimeSql('c.first_seen_at')} as first_seen_at, ${isoTimeSql('greatest(f.measured_at, f.read_at)')} as as_of, c.listed_on::text`;
export const CREATIVE_FROM = `creatives.carriage c join creatives.file f using (creative_key)
  join creatives.ad a on a.ad_id = c.ad_id`;

export const creativeText = (row: CreativeRow): string => {
  const text = JSON.stringify({
    id: row.creative_id,
    ad_id: row.ad_id,
    brand_id: row.brand_id,
    creative_key: row.creative_key,
    media_kind: row.media_kind,
    content_type: row.content_type,
    bytes: row.bytes === null ? null : Number(row.bytes),
    width: row.width,
    height: row.height,
    duration_seconds: row.duration_seconds,
    media_url: mediaUrlOf(row),
    poster_url: posterUrlOf(row),
    ad_active: row.ad_active,
    first_seen_at: row.first_seen_at,
    as_of: row.as_of,
  });
  return appendFields(unescapeStoredMedia(text, ['media_url', 'poster_url']), {
    url: `"${BASE_URL_MARK}/v1/creatives/${row.creative_id}"`,
    record_url: `"${BASE_URL_MARK}/v1/creative-records/${row.creative_key}"`,
  });
};

export const RADAR_ITEM_SQL = `'{"id":"' || i.id || '",' || i.occurrence || ',"ad":' || i.ad || ',"correction":' ||
  case when i.is_withdrawn then '"withdrawn"' when i.is_added then '"added"'
    when i.reported is not null or i.brand_id <> i.reported_brand_id then '"changed"' else 'null' end ||
  ',"brand":' || ${BRAND_REFERENCE_SQL} || '}'`;

/** `item, observed_at, id` of these keys, newest first. */
export const radarItems = (keys: Fragment) => sql.fragment`
  select ${raw(RADAR_ITEM_SQL)} as item, ${raw(isoTimeMicrosSql('k.observed_at'))} as observed_at, k.id
  from (${keys}) k join radar.item i using (id) join radar.brand b on b.brand_id = i.brand_id
  order by k.observed_at desc, k.id desc`;

export const RADAR_TABLE = {
  table: sql.fragment`radar.item`,
  kind: sql.fragment`type`,
  scans: sql.fragment`radar.applied_scan`,
  ofScansOnly: true,
} as const;

export type RadarRow = { readonly item: string; readonly observed_at: string; readonly id: string };

export const radarPage = (rows: readonly RadarRow[], limit: number): Page =>
  pageOfRows(rows, limit, { toItem: ({ item }) => item, cursorOf: (last) => [last.observed_at, last.id] });

/**
 * Table `tool` with `slug, tool_id, name, category, described_at, website_url, website_at`, from the newest scan of any
 * site. At equal times the text that sorts last wins, so that the order of sites does not matter.
 */
export const describeTool: Statement = {
  columns: {
    slug: 'text',
    tool_id: 'uuid',
    name: 'text',
    category: 'text',
    website_url: 'text',
    at: 'timestamptz',
  },
  touches: ['tool'],
  sql: `
    insert into tool as t (slug, tool_id, name, category, described_at, website_url, website_at)
    select d.slug, d.tool_id, d.name, d.category, d.at, w.website_url, w.at
    from (
      select distinct on (slug) slug, tool_id, name, category, at from :input i
      order by slug, at desc, name desc, category desc
    ) d
    left join (
      select distinct on (slug) slug, website_url, at from :input i where website_url is not null
      order by slug, at desc, website_url desc
    ) w using (slug)
    on conflict (slug) do update set tool_id = excluded.tool_id,
      name = case when (excluded.described_at, excluded.name, excluded.category) >= (t.described_at, t.name, t.category)
        or t.described_at is null then excluded.name else t.name end,
      category = case when (excluded.described_at, excluded.name, excluded.category) >= (t.described_at, t.name, t.category)
        or t.described_at is null then excluded.category else t.category end,
      described_at = greatest(t.described_at, excluded.described_at),
      website_url = case when (excluded.website_at, excluded.website_url) >= (t.website_at, t.website_url)
        or t.website_at is null then excluded.website_url else t.website_url end,
      website_at = greatest(t.website_at, excluded.website_at)`,
};

export const describedTools = (tools: readonly SiteTool[], at: string): readonly Change[] =>
  tools.map(({ slug, tool_id, name, category, website_url }) => ({
    kind: 'run',
    statement: 'describe',
    row: { slug, tool_id, name, category, website_url, at },
  }));

/** `t` is a tool row; `BASE_URL_MARK` stands for the base URL. */
export const TOOL_URL_SQL = `${BASE_URL_SQL} || '/v1/tools/' || t.slug`;

/** JSON members of a tool row `t` without braces. */
export const TOOL_MEMBERS_SQL = `'"slug":"' || t.slug || '","name":' || to_json(t.name) || ',"category":' || to_json(t.category)
  || ',"website_url":' || coalesce(to_json(t.website_url)::text, 'null') || ',"url":"' || ${TOOL_URL_SQL} || '"'`;

export type SignalFigures = {
  readonly items: number;
  readonly before?: number;
  readonly after?: number;
  readonly active_before?: number;
  readonly usual?: number;
  readonly uncovered?: number;
  readonly compared_with?: string;
  readonly format?: AdFormat;
  readonly cheaper?: number | null;
  readonly products?: number | null;
  readonly withdrawn?: number;
  readonly added?: number;
};

export type SignalRow = {
  readonly id: string;
  readonly brand_id: string;
  readonly kind: SignalKind;
  readonly date: string;
  readonly observed_at: string;
  readonly figures: SignalFigures;
  readonly correction: Signal['correction'];
  readonly about: readonly {
    readonly ad_id: string | null;
    readonly page_id: string | null;
    readonly page_name: string | null;
    readonly role: NonNullable<Signal['about'][number]['role']> | null;
    readonly destination_url: string | null;
  }[];
};

export const SIGNAL_COLUMNS = `s.id, s.brand_id, s.kind, s.date::text, s.figures, s.about, s.correction`;

const SHARE_DIGITS = 4;
const share = (part: number, whole: number): number =>
  whole === 0 ? 0 : Number((part / whole).toFixed(SHARE_DIGITS));
const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

const counted = (count: number, one: string, several: string): string =>
  `${count} ${count === 1 ? one : several}`;

const saleSentence = ({ items, cheaper, products }: SignalFigures): string =>
  [
    ...(items > 0 ? [`${counted(items, 'ad', 'ads')} with sale copy started.`] : []),
    ...(cheaper && products
      ? [`${percent(cheaper, products)} of the catalogue was listed at a lower price.`]
      : []),
  ].join(' ');

const shiftSentence = (figures: SignalFigures): string => {
  const { format, before = 0, after = 0, active_before = 0, items } = figures;
  const { daysBefore } = SIGNAL_THRESHOLDS.format_mix_shift;
  const [from, to] = [percent(before, active_before), percent(after, items)];
  return `The share of format ${format} among active ads went from ${from} to ${to} in ${daysBefore} days.`;
};

const rampSentence = ({ before, after, uncovered }: SignalFigures): string => {
  const sentence = `Active ads went from ${before} to ${after} in ${SIGNAL_THRESHOLDS.ramp.daysBefore} days.`;
  return uncovered ? `${sentence} ${uncovered} of them came into view without having started.` : sentence;
};

/** States what changed, never why. */
export const summaryOf = ({
  kind,
  figures,
  correction,
}: Pick<SignalRow, 'kind' | 'figures' | 'correction'>): string => {
  if (correction !== 'withdrawn') return sentenceOf(kind, figures);
  const reported = sentenceOf(kind, { ...figures, items: figures.items + (figures.withdrawn ?? 0) });
  return `Withdrawn: ${reported} A scan that arrived late showed otherwise.`;
};

const sentenceOf = (kind: SignalKind, figures: SignalFigures): string => {
  const { items, before, after, usual } = figures;
  switch (kind) {
    case 'ads_started':
      return `${counted(items, 'ad', 'ads')} started.`;
    case 'ads_stopped':
      return `${counted(items, 'ad was', 'ads were')} confirmed inactive.`;
    case 'destinations_changed':
      return `${counted(items, 'change', 'changes')} of destination links.`;
    case 'ramp':
      return rampSentence(figures);
    case 'drop':
      return `Active ads went from ${before} to ${after} in ${SIGNAL_THRESHOLDS.drop.daysBefore} days.`;
    case 'launch_burst':
      return `${items} ads started; the mean of the reliable days of the ${SIGNAL_THRESHOLDS.launch_burst.windowDays} days before was ${usual}.`;
    case 'sale':
      return saleSentence(figures);
    case 'new_landing_page':
      return `Ads led to ${counted(items, 'landing page', 'landing pages')} not seen before.`;
    case 'new_linked_page':
      return `${counted(items, 'page was', 'pages were')} first observed to belong with the brand.`;
    case 'new_whitelisting_pair':
      return `Ads were first seen on ${counted(items, "page that is a creator's, a partner's", "pages that are a creator's, a partner's")} or not linked with the brand.`;
    case 'format_mix_shift':
      return shiftSentence(figures);
    case 'long_runner_refreshed':
      return `Copy or link changed in ${counted(items, 'ad', 'ads')} started ${SIGNAL_THRESHOLDS.long_runner_refreshed.ageDays} or more days before.`;
  }
};

const EVIDENCE_LIMIT = 100;

const dayBefore = (date: string, days: number): string => utcDateOfMs(Date.parse(date) - days * DAY_MS);

/** Each link replies 200 to a key that may read it, and shows the items behind the signal. */
const evidenceOf = (row: SignalRow, workspaceId: string): readonly z.infer<typeof Evidence>[] => {
  const { brand_id, date, kind, figures, about } = row;
  const brand = `${BASE_URL_MARK}/v1/brands/${brand_id}`;
  const activity = (from: string) =>
    ({ resource: 'daily_activity', url: `${brand}/daily-activity?from=${from}&to=${date}` }) as const;
  const radar = (type: string) =>
    ({
      resource: 'radar',
      url: `${BASE_URL_MARK}/v1/workspaces/${workspaceId}/radar?brand_id=${brand_id}&date=${date}&types=${type}&limit=${EVIDENCE_LIMIT}`,
    }) as const;
  const ads = about.flatMap(({ ad_id }) =>
    ad_id === null ? [] : [{ resource: 'ad', url: `${BASE_URL_MARK}/v1/ads/${ad_id}` } as const],
  );
  switch (kind) {
    case 'ads_started':
      return [radar('ad_started')];
    case 'ads_stopped':
      return [radar('ad_stopped')];
    case 'destinations_changed':
      return [radar('destination_changed')];
    case 'ramp':
    case 'drop':
      return [activity(figures.compared_with ?? date)];
    case 'launch_burst':
      return [radar('ad_started'), activity(dayBefore(date, SIGNAL_THRESHOLDS.launch_burst.windowDays))];
    case 'sale':
      return figures.cheaper ? [...ads, { resource: 'store', url: `${brand}/store` }] : ads;
    case 'new_linked_page':
      return [{ resource: 'social_pages', url: `${brand}/social-pages` }];
    case 'format_mix_shift': {
      const url = `${BASE_URL_MARK}/v1/ads?brand_id=${brand_id}&format=${figures.format}&status=active&limit=${EVIDENCE_LIMIT}`;
      return [activity(figures.compared_with ?? date), { resource: 'ads', url }];
    }
    case 'new_landing_page':
    case 'new_whitelisting_pair':
    case 'long_runner_refreshed':
      return ads;
  }
};

const countsOf = ({ kind, figures }: SignalRow): Signal['counts'] => {
  const { items, before, after, active_before, usual, uncovered, cheaper, products, withdrawn, added } =
    figures;
  const isShift = kind === 'format_mix_shift';
  return {
    items,
    before: before ?? null,
    after: after ?? null,
    share_before: isShift ? share(before ?? 0, active_before ?? 0) : null,
    share_after: isShift ? share(after ?? 0, items) : null,
    cheaper_share: cheaper && products ? share(cheaper, products) : null,
    usual: usual ?? null,
    uncovered: uncovered ?? null,
    withdrawn: withdrawn ?? 0,
    added: added ?? 0,
  };
};

export const signalText = (row: SignalRow, brand: string, workspaceId: string): string => {
  const { id, kind, date, observed_at, figures, about, correction } = row;
  const { compared_with, format } = figures;
  const signal: Omit<Signal, 'brand'> = {
    id,
    kind,
    date,
    observed_at,
    summary: summaryOf(row),
    counts: countsOf(row),
    compared_with: compared_with ?? null,
    format: format ?? null,
    about: about.map(({ ad_id, page_id, page_name, role, destination_url }) => ({
      ad: ad_id === null ? null : { id: ad_id, url: `${BASE_URL_MARK}/v1/ads/${ad_id}` },
      page: page_id === null ? null : { page_id, page_name },
      role,
      destination_url,
    })),
    evidence: [...evidenceOf(row, workspaceId)],
    correction,
  };
  const text = unescapeBaseUrl(JSON.stringify(signal));
  return appendFields(text, { brand });
};
