import { textKey, untilStable } from '../comparison/text-key.ts';
import { HOST_AND_PORT } from './observed-link.ts';
import { domainsOfHost } from './shared-hosts.ts';
import { isTracking } from '../comparison/tracking-parameters.ts';

/**
 * Comparison of destination links (rule 5 of services/domain/README.md, which has the table of differences that are none).
 * URL macros stay as written. Links into an app store are compared by app.
 */

/** Returns the target of the ad network's own redirect, or the URL itself when it does not redirect. */
const unwrapRedirect = (url: URL): URL => {
  const target = /^(l|lm)\.(facebook|instagram)\.com$/.test(url.hostname) ? url.searchParams.get('u') : null;
  const parsed = target ? parse(target) : null;
  return parsed === null ? url : unwrapRedirect(parsed);
};

const parse = (text: string): URL | null => {
  const key = textKey(text);
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(key) && !HOST_AND_PORT.test(key);
  return URL.parse(hasScheme ? key : `https://${key}`);
};

/** Returns the host of a URL without `www.` and without the dot of the root. */
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
 * Characters whose escape means the same: those that RFC 3986 leaves unreserved, the marks of RFC 2396, and those that a URL may
 * not hold, such as the braces of macros. All others are reserved: `%2F` is no `/`.
 */
const UNESCAPED = /[\w.~!*'()[\]{}|^`-]/;

const decoded = (escapes: string): string => {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes;
  }
};

/** A part of a URL without escapes and characters that need one. */
const PLAIN_PART = /^[!#-$&-;=?-[\]-~]*$/;

/** Returns a part of a URL with one spelling of its escapes and of its characters beyond ASCII. */
const withOneSpelling = (part: string): string =>
  PLAIN_PART.test(part)
    ? part
    : textKey(part.replaceAll(BEYOND_ASCII, decoded))
        .replaceAll(/[^\0-\u007f]+|[\0- "<>\\]/g, encodeURIComponent)
        .replaceAll(ESCAPE, (escape) => {
          const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
          return UNESCAPED.test(character) ? character : escape.toUpperCase();
        });

/**
 * Returns the parameters of a query that choose a page, in the order of their names. Parameters of one name keep their order.
 */
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

/**
 * Returns the key of a fragment that chooses what a page shows, such as `#/boots` and `#!boots`; empty for the anchor of a
 * place on the page.
 */
const routeKey = (fragment: string): string => {
  if (!/^#[!/]/.test(fragment)) return '';
  const [path = '', ...query] = (fragment.split(':~:', 1)[0] ?? '').split('?');
  const route = joined(pathKey(path), queryKey(query.join('?')));
  return /^#!?$/.test(route) ? '' : route;
};

/** Ports at which browsers look for pages without being told. */
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

/**
 * Returns the comparison key of a link: links with the same key lead to the same place. A text that is not a link
 * is its own key.
 */
export const destinationKey = (link: string): string =>
  PLAIN_LINK.test(link) && textKey(link) === link ? keyOf(link) : untilStable(keyOf, link);

/** Returns the host that a link leads to, without `www.`; `null` for a text that is not a link. */
export const destinationHost = (link: string): string | null => {
  const parsed = parse(link);
  return parsed && (hostOf(unwrapRedirect(parsed)) || null);
};

/**
 * Domains that a link may belong to, most specific first: the host and its parents. Empty when many brands share
 * the host (`shared-hosts.ts`).
 */
export const destinationDomains = (link: string): readonly string[] => {
  const parsed = parse(link);
  if (!parsed) return [];
  const url = unwrapRedirect(parsed);
  return domainsOfHost(hostOf(url), url.pathname);
};
