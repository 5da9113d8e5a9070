import { textKey, untilStable } from '../comparison/text-key.ts';
import { HOST_AND_PORT } from './observed-link.ts';
import { domainsOfHost } from './shared-hosts.ts';
import { isTracking } from '../comparison/tracking-parameters.ts';

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
