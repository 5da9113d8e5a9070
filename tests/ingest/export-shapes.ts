import { adId } from './export-files.ts';

/** One ad as the library's site shows it. */
export const webAd = (number: number, more: object = {}, snapshot: object = {}): object => ({
  ad_archive_id: adId(number),
  collation_count: null,
  is_active: true,
  page_id: '400000000000011',
  page_name: 'Lumen Socks',
  start_date: 1_767_254_400,
  end_date: 1_772_438_400,
  publisher_platform: ['INSTAGRAM', 'FACEBOOK'],
  spend: '100-200',
  reach_estimate: 5_000,
  currency: 'EUR',
  snapshot: {
    body: { text: `Warm feet ${number}` },
    title: 'Socks',
    caption: 'lumen-socks.example',
    cta_text: 'Shop Now',
    cta_type: 'SHOP_NOW',
    display_format: 'VIDEO',
    link_description: ' ',
    link_url: 'https://lumen-socks.example/?utm_content={{ad.id}}',
    cards: [],
    images: [],
    videos: [
      { video_hd_url: 'https://cdn.example/a.mp4', video_preview_image_url: 'https://cdn.example/a.jpg' },
    ],
    page_like_count: 3,
    ...snapshot,
  },
  ...more,
});

/** The same in the site's envelope. */
export const connection = (ads: readonly (readonly object[])[], hasNextPage: boolean): object => ({
  data: {
    ad_library_main: {
      search_results_connection: {
        count: 50_001,
        edges: ads.map((collated) => ({ node: { collated_results: collated }, cursor: null })),
        page_info: { end_cursor: 'x', has_next_page: hasNextPage },
      },
    },
  },
});

/** A row of the scraping actor. */
export const actorAd = (number: number, more: object = {}, snapshot: object = {}): object => ({
  inputUrl: 'https://www.facebook.com/lumensocks/',
  totalCount: 2,
  pageID: '400000000000011',
  adArchiveID: adId(number),
  adArchiveId: adId(number),
  startDate: 1_767_254_400,
  endDate: 1_772_438_400,
  isActive: true,
  pageName: 'Lumen Socks',
  publisherPlatform: ['FACEBOOK', 'AUDIENCE_NETWORK'],
  spend: null,
  'pageInfo.adLibraryPageInfo.pageInfo': { pageId: '400000000000011', likes: 9 },
  snapshot: {
    body: { text: '{{product.brand}}' },
    ctaText: 'Learn more',
    ctaType: 'LEARN_MORE',
    displayFormat: 'DCO',
    linkUrl: 'https://lumen-socks.example/a',
    'cards[0]': {
      body: 'First',
      title: 'One',
      ctaText: 'Learn More',
      linkUrl: 'https://lumen-socks.example/1',
    },
    'cards[1]': { body: 'Second', title: 'Two', originalImageUrl: 'https://cdn.example/2.jpg' },
    ...snapshot,
  },
  ...more,
});

/** A page for which the actor found no ads. */
export const actorPageWithoutAds = (pageId: string): object => ({
  inputUrl: `https://www.facebook.com/${pageId}/`,
  pageInfo: { adLibraryPageInfo: { pageInfo: { pageId, pageName: 'Quiet Page' } }, page: { id: pageId } },
  isResultComplete: true,
  results: [],
  totalCount: 0,
});

/** An answer of the site as it was in 2024, its ids partly numbers beyond 2^53. */
export const answerOf2024 = (more: string, ids: readonly string[]): string =>
  `{${more}"is_result_complete": true, "number_of_ads": 2, "results": [[${ids
    .map(
      (id) => `{"adid": "0", "adArchiveID": ${id}, "collationID": 18014398509481985, "isActive": true,
  "pageID": "400000000000011", "pageName": "Lumen Socks", "publisherPlatform": ["instagram"],
  "startDate": 1704787200, "endDate": 1705132800, "spend": null,
  "snapshot": {"page_id": 400000000000011, "display_format": "carousel", "cta_text": "Learn more",
    "body": {"markup": {"__html": "Soft &amp; warm<br />for <b>winter</b>"}},
    "cards": [{"body": " ", "title": "One", "link_url": "https://lumen-socks.example/1"}]}}`,
    )
    .join('],[')}]]}`;

/** A page of the official API. */
export const apiPage = (numbers: readonly number[], next: boolean, more: object = {}): object => ({
  data: numbers.map((number) => ({
    id: adId(number),
    page_id: '400000000000011',
    page_name: 'Lumen Socks',
    ad_snapshot_url: 'https://library.example/?access_token=secret',
    ad_delivery_start_time: '2026-01-01',
    ad_creative_bodies: ['Warm feet', 'Warmer feet'],
    ad_creative_link_titles: ['Socks'],
    ad_creative_link_captions: ['lumen-socks.example'],
    languages: ['EN'],
    publisher_platforms: ['instagram', 'facebook'],
    spend: { lower_bound: '100', upper_bound: '199' },
    impressions: { lower_bound: '1000' },
    eu_total_reach: 12_345,
    currency: 'EUR',
    ...more,
  })),
  paging: {
    cursors: { after: 'x' },
    ...(next ? { next: 'https://library.example/next?access_token=secret' } : {}),
  },
});
