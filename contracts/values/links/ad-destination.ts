/**
 * Comparison of destination links (rule 5 of services/domain/README.md). Scheme, `www.`, trailing slash and tracking
 * parameters are ignored. URL macros stay as written. Links into an app store are compared by app.
 */

const TRACKING_PARAMETERS = new Set([
  'fbclid',
  'gclid',
  'gbraid',
  'wbraid',
  'dclid',
  'msclkid',
  'ttclid',
  'twclid',
  'igshid',
  'igsh',
  'mc_cid',
  'mc_eid',
  '_ga',
  '_gl',
  'yclid',
  'srsltid',
]);
const TRACKING_PREFIXES = ['utm_', 'fb_', 'hsa_', 'pk_', 'mtm_'];

/**
 * Hosts shared by many brands, so their links do not identify a brand: app stores, the ad network, link services.
 */
const SHARED_HOSTS = [
  'play.google.com',
  'apps.apple.com',
  'itunes.apple.com',
  'app.appsflyer.com',
  'onelink.me',
  'app.link',
  'adj.st',
  'facebook.com',
  'fb.me',
  'fb.com',
  'm.me',
  'instagram.com',
  'whatsapp.com',
  'wa.me',
  'linktr.ee',
  'bit.ly',
];

const isTracking = (name: string): boolean => {
  const lower = name.toLowerCase();
  return TRACKING_PARAMETERS.has(lower) || TRACKING_PREFIXES.some((prefix) => lower.startsWith(prefix));
};

/** Decodes percent-encoded macros, so that both spellings compare as equal. */
const decodeMacros = (url: string): string => url.replace(/%7B%7B/gi, '{{').replace(/%7D%7D/gi, '}}');

/** Returns the target of the ad network's own redirect, or the URL itself when it does not redirect. */
const unwrapRedirect = (url: URL): URL => {
  const target = /^(l|lm)\.(facebook|instagram)\.com$/.test(url.hostname) ? url.searchParams.get('u') : null;
  return (target && parse(target)) || url;
};

const parse = (text: string): URL | null => {
  const trimmed = decodeMacros(text.trim());
  const candidate = /^[a-z][a-z0-9+.-]*:/i.test(trimmed) ? trimmed : `https://${trimmed}`;
  try {
    return new URL(candidate);
  } catch {
    return null;
  }
};

const appOf = (url: URL): string | null => {
  const host = url.hostname.replace(/^www\./, '');
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

/**
 * Returns the comparison key of a link: links with the same key lead to the same place. A text that is not a link
 * is its own key.
 */
export const destinationKey = (link: string): string => {
  const parsed = parse(link);
  if (!parsed) return link.trim();
  const url = unwrapRedirect(parsed);
  const app = appOf(url);
  if (app) return `app:${app}`;
  const query = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !isTracking(pair.split('=', 1)[0] ?? ''))
    .toSorted()
    .join('&');
  const path = url.pathname.replace(/\/+$/, '');
  const host = url.hostname.toLowerCase().replace(/^www\./, '');
  return `${host}${path}${query ? `?${query}` : ''}`;
};

/**
 * Domains that a link may belong to, most specific first: the host and its parents. Empty when many brands share
 * the host.
 */
export const destinationDomains = (link: string): readonly string[] => {
  const parsed = parse(link);
  if (!parsed) return [];
  const host = unwrapRedirect(parsed)
    .hostname.toLowerCase()
    .replace(/^www\./, '');
  if (SHARED_HOSTS.some((shared) => host === shared || host.endsWith(`.${shared}`))) return [];
  const labels = host.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
};
