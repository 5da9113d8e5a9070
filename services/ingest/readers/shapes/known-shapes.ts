import { camelCase } from 'es-toolkit/string/camelCase';

export type Shape = {
  readonly format: string;
  readonly required: readonly (readonly string[])[];
  readonly optional: readonly string[];
};

const names = (text: string): readonly string[] => text.split(/\s+/);

export const CARD_TEXTS = names('title link_description caption cta_text cta_type link_url');
export const SNAPSHOT_TEXTS = [...CARD_TEXTS, 'display_format'];
export const SNAPSHOT_MEDIA = ['images', 'videos'];
export const MEDIA_ADDRESSES = names(
  'video_hd_url video_sd_url video_preview_image_url original_image_url resized_image_url',
);
/** A snapshot without any of these is of another shape. */
export const SNAPSHOT_CONTENT = ['body', ...SNAPSHOT_TEXTS, 'cards', ...SNAPSHOT_MEDIA];

export const ARCHIVE_TEXTS =
  names(`ad_creative_bodies ad_creative_body ad_creative_link_titles ad_creative_link_title
  ad_creative_link_descriptions ad_creative_link_description ad_creative_link_captions ad_creative_link_caption`);
export const ARCHIVE_CONTENT = [
  ...ARCHIVE_TEXTS,
  ...names('ad_delivery_start_time ad_delivery_stop_time ad_creation_time ad_snapshot_url'),
];

/** Columns that can only have the id of the library. */
export const ARCHIVE_OWN_IDS = ['ad_archive_id', 'ad_library_id', 'adlib_id'] as const;
export const ARCHIVE_ID_NAMES = ['id', 'ad_id', ...ARCHIVE_OWN_IDS] as const;

const archiveShape = (format: string, ids: readonly string[]): Shape => ({
  format,
  required: [ids, ARCHIVE_CONTENT],
  optional: names('page_id page_name publisher_platforms languages bylines'),
});

const WEB_MEMBERS = names('page_id page_name is_active start_date end_date publisher_platform collation_id');
const ACTOR_MEMBERS = names('inputUrl totalCount pageID pageInfo');
const asIs = (name: string): string => name;

/** The website's names, renamed outside (`outer`) and inside the snapshot (`inner`). */
const webShape = (
  format: string,
  ids: readonly string[],
  outer: (name: string) => string,
  inner: (name: string) => string,
  more: readonly string[] = [],
): Shape => ({
  format,
  required: [ids, ['snapshot'], SNAPSHOT_CONTENT.map((name) => `snapshot.${inner(name)}`)],
  optional: [...WEB_MEMBERS.map(outer), ...more],
});

export const JSON_SHAPES: readonly Shape[] = [
  webShape('web-graphql', ['ad_archive_id'], asIs, asIs),
  webShape('web-2024', ['adArchiveID'], (name) => camelCase(name).replace(/Id$/, 'ID'), asIs),
  webShape('actor-camel-case', ['adArchiveID', 'adArchiveId'], camelCase, camelCase, ACTOR_MEMBERS),
  archiveShape('ads-archive-json', ['id']),
  {
    format: 'technologies-json',
    required: [['url', 'domain', 'urls'], ['technologies'], ['technologies[].name']],
    optional: ['technologies[].slug', 'technologies[].categories', 'technologies[].website'],
  },
  {
    format: 'storefront-json',
    required: [['products'], ['products[].variants']],
    optional: ['products[].id', 'products[].title', 'products[].handle', 'products[].vendor'],
  },
  {
    format: 'storefront-json',
    required: [['id', 'handle'], ['title'], ['variants'], ['variants[].price']],
    optional: ['vendor', 'product_type', 'published_at', 'images', 'variants[].sku', 'variants[].available'],
  },
  {
    format: 'storefront-json',
    required: [['id'], ['name'], ['prices'], ['prices.price'], ['prices.currency_minor_unit']],
    optional: ['slug', 'permalink', 'prices.regular_price', 'prices.currency_code', 'is_in_stock'],
  },
  {
    format: 'observations',
    required: [['type'], ['observed_at', 'scanned_at']],
    optional: ['scan_id', 'domain'],
  },
];

export const CSV_SHAPES: readonly Shape[] = [
  archiveShape('ads-archive-csv', ARCHIVE_ID_NAMES),
  { format: 'rank-list', required: [['rank'], ['domain']], optional: [] },
];
