/**
 * Parameters that name the ad, click or message choose no page (case-insensitive; `utm_*` is a prefix). A new row needs
 * a source. Parameters by which shops choose a page, a price or who is paid have no row, even when some advertisers use
 * them for campaigns: `variant`, `id`, `p`, `sku`, `q`, `keyword`, `device`, `lang`, `currency`, `discount`, `coupon`,
 * `code`, `ref`, `aff`, `tag`, `source`.
 */

type Row = { readonly of: string; readonly source: string; readonly names: readonly string[] };

const ROWS: readonly Row[] = [
  {
    of: 'campaign parameters of Google Analytics, which every network can fill in',
    source: 'https://support.google.com/analytics/answer/10917952',
    names: ['utm_*'],
  },
  {
    of: 'visitors whom Google Analytics follows across domains',
    source: 'https://support.google.com/analytics/answer/10071811',
    names: ['_ga', '_gl'],
  },
  {
    of: 'click ids of Google Ads',
    source: 'https://support.google.com/google-ads/answer/9744275',
    names: ['gclid', 'gclsrc', 'gbraid', 'wbraid'],
  },
  {
    of: 'source and campaign that Google Ads adds',
    source: 'https://support.google.com/google-ads/answer/16193746',
    names: ['gad_source', 'gad_campaignid'],
  },
  {
    of: 'click id of Google display ads',
    source: 'https://github.com/brave/brave-browser/issues/9879',
    names: ['dclid'],
  },
  {
    of: 'result of Google Shopping',
    source: 'https://github.com/ClearURLs/Rules',
    names: ['srsltid'],
  },
  {
    of: 'ValueTrack parameters of Google Ads, under the names of their macros',
    source: 'https://support.google.com/google-ads/answer/6305348',
    names: [
      'campaignid',
      'adgroupid',
      'feeditemid',
      'extensionid',
      'targetid',
      'matchtype',
      'adposition',
      'loc_interest_ms',
      'loc_physical_ms',
    ],
  },
  {
    of: 'click id of Meta',
    source: 'https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/fbp-and-fbc',
    names: ['fbclid'],
  },
  {
    of: 'dynamic parameters of Meta, under the names of their macros',
    source: 'https://www.facebook.com/business/help/2360940870872492',
    names: [
      'campaign_id',
      'campaign_name',
      'adset_id',
      'adset_name',
      'ad_id',
      'ad_name',
      'placement',
      'site_source_name',
    ],
  },
  {
    of: 'links shared on Facebook',
    source:
      'https://github.com/AdguardTeam/AdguardFilters/blob/master/TrackParamFilter/sections/general_url.txt',
    names: ['fb_*', 'action_object_map', 'action_ref_map', 'action_type_map'],
  },
  {
    of: 'links shared on Instagram',
    source: 'https://github.com/brave/adblock-lists/blob/master/brave-lists/clean-urls.json',
    names: ['igshid', 'igsh'],
  },
  {
    of: 'click id of Microsoft Advertising',
    source: 'https://help.ads.microsoft.com/apex/index/3/en/60000',
    names: ['msclkid'],
  },
  {
    of: 'click ids of TikTok, LinkedIn, Pinterest and Snapchat',
    source: 'https://docs.dataflysignal.com/identity/click-ids',
    names: ['ttclid', 'li_fat_id', 'epik', 'ScCid'],
  },
  {
    of: 'click id of X',
    source:
      'https://github.com/AdguardTeam/AdguardFilters/blob/master/TrackParamFilter/sections/general_url.txt',
    names: ['twclid'],
  },
  {
    of: 'click ids of Reddit, Taboola, Outbrain and Teads',
    source: 'https://github.com/henkisdabro/platform-url-click-id-parameters',
    names: ['rdt_cid', 'tblci', 'dicbo', 'auctid'],
  },
  {
    of: 'click ids of Yandex',
    source:
      'https://github.com/AdguardTeam/AdguardFilters/blob/master/TrackParamFilter/sections/general_url.txt',
    names: ['yclid', 'ysclid'],
  },
  {
    of: 'click ids of the affiliate networks impact.com, Awin and ShareASale',
    source:
      'https://github.com/AdguardTeam/AdguardFilters/blob/master/TrackParamFilter/sections/general_url.txt',
    names: ['irclickid', 'irgwc', 'ir_adid', 'ir_campaignid', 'ir_partnerid', 'awc', 'sscid'],
  },
  {
    of: 'click id of the affiliate network CJ',
    source: 'https://github.com/brave/adblock-lists/blob/master/brave-lists/clean-urls.json',
    names: ['cjevent'],
  },
  {
    of: 'ads and messages of HubSpot',
    source: 'https://knowledge.hubspot.com/ads/ad-tracking-in-hubspot',
    names: ['hsa_*', '_hsenc', '_hsmi', '__hssc', '__hstc', '__hsfp', 'hsCtaTracking'],
  },
  {
    of: 'campaign and reader in messages of Mailchimp',
    source: 'https://github.com/ClearURLs/Rules',
    names: ['mc_cid', 'mc_eid', 'mc_tc'],
  },
  {
    of: 'readers in messages of Marketo, Klaviyo, MailerLite, Olytics and Vero',
    source:
      'https://github.com/AdguardTeam/AdguardFilters/blob/master/TrackParamFilter/sections/general_url.txt',
    names: [
      'mkt_tok',
      '_kx',
      'ml_subscriber',
      'ml_subscriber_hash',
      'oly_anon_id',
      'oly_enc_id',
      'vero_id',
      'vero_conv',
    ],
  },
  {
    of: 'keywords of Adobe Advertising',
    source: 'https://github.com/henkisdabro/platform-url-click-id-parameters',
    names: ['s_kwcid', 'ef_id'],
  },
  {
    of: 'campaign parameters of Matomo',
    source:
      'https://github.com/AdguardTeam/AdguardFilters/blob/master/TrackParamFilter/sections/general_url.txt',
    names: ['mtm_*', 'matomo_*', 'pk_*', 'piwik_*'],
  },
  {
    of: 'clicks in Wicked Reports',
    source:
      'https://github.com/AdguardTeam/AdguardFilters/blob/master/TrackParamFilter/sections/general_url.txt',
    names: ['wickedid'],
  },
  {
    of: 'ads in Hyros',
    source: 'https://docs.hyros.com/how-to-connect-your-google-ads-to-hyros/',
    names: ['h_ad_id'],
  },
  {
    of: 'links that Branch opened in an app',
    source: 'https://github.com/brave/brave-browser/issues/39575',
    names: ['_branch_match_id', '_branch_referrer'],
  },
];

const names = ROWS.flatMap((row) => row.names.map((name) => name.toLowerCase()));
const WHOLE: ReadonlySet<string> = new Set(names.filter((name) => !name.endsWith('*')));
const BEGINNINGS = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));

export const isTracking = (name: string): boolean => {
  const lower = name.toLowerCase();
  return WHOLE.has(lower) || BEGINNINGS.some((beginning) => lower.startsWith(beginning));
};
