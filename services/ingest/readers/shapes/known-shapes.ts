import { camelCase } from 'es-toolkit/string/camelCase';

export type Shape = {
  readonly format: string;
  readonly required: readonly (readonly string[])[];
  readonly optional: readonly string[];
};

export const CARD_TEXTS = [
  'title',
  'link_description',
  'caption',
  'cta_text',
  'cta_type',
  'link_url',
] as const;
export const SNAPSHOT_TEXTS = [...CARD_TEXTS, 'display_format'] as const;
export const SNAPSHOT_MEDIA = ['images', 'videos'] as const;
export const MEDIA_ADDRESSES = [
  'video_hd_url',
  'video_sd_url',
  'video_preview_image_url',
  'original_image_url',
  'resized_image_url',
] as const;
/** A snapshot without any of these is of another shape. */
export const SNAPSHOT_CONTENT = ['body', ...SNAPSHOT_TEXTS, 'cards', ...SNAPSHOT_MEDIA] as const;
const SNAPSHOT_CONTENT_CAMEL_CASE = SNAPSHOT_CONTENT.map(camelCase);
const inSnapshot = (names: readonly string[]): readonly string[] => names.map((name) => `snapshot.${name}`);

export const ARCHIVE_CONTENT = [
  'ad_creative_bodies',
  'ad_creative_body',
  'ad_creative_link_titles',
  'ad_creative_link_title',
  'ad_creative_link_descriptions',
  'ad_creative_link_description',
  'ad_creative_link_captions',
  'ad_creative_link_caption',
  'ad_delivery_start_time',
  'ad_delivery_stop_time',
  'ad_creation_time',
  'ad_snapshot_url',
] as const;

export const ARCHIVE_TEXTS = ARCHIVE_CONTENT.filter((name) => name.startsWith('ad_creative_'));

export const JSON_SHAPES: readonly Shape[] = [
  {
    format: 'web-graphql',
    required: [['ad_archive_id'], ['snapshot'], inSnapshot(SNAPSHOT_CONTENT)],
    optional: [
      ...inSnapshot(SNAPSHOT_CONTENT),
      'page_id',
      'page_name',
      'is_active',
      'start_date',
      'end_date',
      'publisher_platform',
      'collation_id',
    ],
  },
  {
    format: 'web-2024',
    required: [['adArchiveID'], ['snapshot'], inSnapshot(SNAPSHOT_CONTENT)],
    optional: [
      ...inSnapshot(SNAPSHOT_CONTENT),
      'pageID',
      'pageName',
      'isActive',
      'startDate',
      'endDate',
      'publisherPlatform',
      'collationID',
    ],
  },
  {
    format: 'actor-camel-case',
    required: [['adArchiveID', 'adArchiveId'], ['snapshot'], inSnapshot(SNAPSHOT_CONTENT_CAMEL_CASE)],
    optional: [
      ...inSnapshot(SNAPSHOT_CONTENT_CAMEL_CASE),
      'inputUrl',
      'totalCount',
      'pageID',
      'pageId',
      'pageName',
      'isActive',
      'startDate',
      'endDate',
      'publisherPlatform',
      'collationId',
      'pageInfo',
    ],
  },
  {
    format: 'ads-archive-json',
    required: [['id'], ARCHIVE_CONTENT],
    optional: [...ARCHIVE_CONTENT, 'page_id', 'page_name', 'publisher_platforms', 'languages', 'bylines'],
  },
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
  {
    format: 'ads-archive-csv',
    required: [['id', 'ad_id', 'ad_archive_id', 'ad_library_id', 'adlib_id'], ARCHIVE_CONTENT],
    optional: [...ARCHIVE_CONTENT, 'page_id', 'page_name', 'publisher_platforms', 'languages', 'bylines'],
  },
  { format: 'rank-list', required: [['rank'], ['domain']], optional: [] },
];
