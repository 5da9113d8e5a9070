import { textKey, untilStable } from '../comparison/text-key.ts';
import { HOST_AND_PORT } from './observed-link.ts';
import { domainsOfHost } from './shared-hosts.ts';

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

const isTracking = (name: string): boolean => {
  const lower = name.toLowerCase();
  return WHOLE.has(lower) || BEGINNINGS.some((beginning) => lower.startsWith(beginning));
};

/** Links compare by rule 5 of services/domain/README.md. URL macros stay as written; app store links compare by app. */

/** The URL itself when it is not the ad network's own redirect. */
const unwrapRedirect = (url: URL): URL => {
  const { hostname, pathname } = url;
  const isRedirect =
    /^lm?\.(facebook|instagram|messenger)\.com$/.test(hostname) ||
    (pathname === '/l.php' && /(^|\.)facebook\.com$/.test(hostname));
  const target = isRedirect ? url.searchParams.get('u') : null;
  const parsed = target ? parse(target) : null;
  return parsed === null ? url : unwrapRedirect(parsed);
};

const parse = (text: string): URL | null => {
  const key = textKey(text);
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(key) && !HOST_AND_PORT.test(key);
  return URL.parse(hasScheme ? key : `https://${key}`);
};

const hostOf = ({ hostname }: URL): string =>
  hostname
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^www\./, '');

const appOf = (url: URL): string | null => {
  const host = hostOf(url);
  if (host === 'play.google.com' || url.protocol === 'market:') {
    const id = url.searchParams.get('id');
    return id ? `android:${id}` : null;
  }
  if (host === 'apps.apple.com' || host === 'itunes.apple.com') {
    const id = /\/id(\d+)/.exec(url.pathname)?.[1];
    return id ? `ios:${id}` : null;
  }
  if (host === 'app.appsflyer.com') {
    const id = /^\/(?:id)?([\w.]+)/.exec(url.pathname)?.[1];
    return id ? `${/^\d+$/.test(id) ? 'ios' : 'android'}:${id}` : null;
  }
  return null;
};

/** Escapes of characters beyond ASCII. */
const BEYOND_ASCII = /(?:%[89a-f][\da-f])+/gi;
const ESCAPE = /%[\da-f]{2}/gi;
/**
 * Their escape means the same: unreserved in RFC 3986, marks of RFC 2396, and those that a URL may not have. All others
 * are reserved: `%2F` differs from `/`.
 */
const UNESCAPED = /[\w.~!*'()[\]{}|^`-]/;

const decoded = (escapes: string): string => {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
};

/** Without escapes and characters that need one. */
const PLAIN_PART = /^[!#-$&-;=?-[\]-~]*$/;

/** One spelling of escapes and of characters beyond ASCII. */
const withOneSpelling = (part: string): string =>
  PLAIN_PART.test(part)
    ? part
    : textKey(part.replaceAll(BEYOND_ASCII, decoded))
        .replaceAll(/[^\0-\u007f]+|[\0- "<>\\]/g, encodeURIComponent)
        .replaceAll(ESCAPE, (escape) => {
          const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
          return UNESCAPED.test(character) ? character : escape.toUpperCase();
        });

/** Parameters that choose a page, by name. Those of one name keep their order. */
const queryKey = (query: string): string =>
  query
    .split('&')
    .map((pair) => withOneSpelling(pair.replaceAll('+', '%20')).replace(/^([^=]*)=$/, '$1'))
    .map((pair) => ({ name: pair.split('=', 1)[0] ?? '', pair }))
    .filter(({ name, pair }) => pair !== '' && !isTracking(name))
    .toSorted((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1))
    .map(({ pair }) => pair)
    .join('&');

const pathKey = (path: string): string => withOneSpelling(path).replace(/\/+$/, '');

const joined = (path: string, query: string): string => (query === '' ? path : `${path}?${query}`);

/** For a fragment that chooses content, such as `#/boots` and `#!boots`; empty for an anchor. */
const routeKey = (fragment: string): string => {
  if (!/^#[!/]/.test(fragment)) return '';
  const [path = '', ...query] = (fragment.split(':~:', 1)[0] ?? '').split('?');
  const route = joined(pathKey(path), queryKey(query.join('?')));
  return /^#!?$/.test(route) ? '' : route;
};

/** Ports that browsers use when the link names none. */
const DEFAULT_PORTS: ReadonlySet<string> = new Set(['', '80', '443']);

const keyOf = (link: string): string => {
  const parsed = parse(link);
  if (parsed === null) return textKey(link);
  const url = unwrapRedirect(parsed);
  const app = appOf(url);
  if (app) return `app:${app}`;
  if (!/^https?:$/.test(url.protocol)) return url.href;
  const port = DEFAULT_PORTS.has(url.port) ? '' : `:${url.port}`;
  return `${hostOf(url)}${port}${joined(pathKey(url.pathname), queryKey(url.search.slice(1)))}${routeKey(url.hash)}`;
};

/** Nearly all links: their key is its own key. */
const PLAIN_LINK = /^https?:\/\/[a-z0-9.-]+(?:[/?#][!-$&-[\]-~]*)?$/i;

/** Links with the same key lead to the same place. A text that is not a link is its own key. */
export const destinationKey = (link: string): string =>
  PLAIN_LINK.test(link) && textKey(link) === link ? keyOf(link) : untilStable(keyOf, link);

/** Without `www.`; `null` for a text that is not a link. */
export const destinationHost = (link: string): string | null => {
  const parsed = parse(link);
  return parsed && (hostOf(unwrapRedirect(parsed)) || null);
};

/** Host and parents, most specific first. Empty when many brands share the host (`shared-hosts.ts`). */
export const destinationDomains = (link: string): readonly string[] => {
  const parsed = parse(link);
  if (!parsed) return [];
  const url = unwrapRedirect(parsed);
  return domainsOfHost(hostOf(url), url.pathname);
};
