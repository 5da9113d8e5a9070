/**
 * Checks links from observations. Advertisers choose them, so a link must not run a script, hide its host behind user
 * information or hold invisible characters.
 */
import { BASE_URL_MARK } from '../base-url.ts';
import { MEDIA_MARK } from '../media/stored-media.ts';

/** Schemes that only open a page or an app store. All others can run a script or start a program. */
const SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'market', 'itms', 'itms-apps', 'itms-appss']);
/** Nearly all links: no user information, backslash, white space or invisible character. `@` is allowed in the path. */
const PLAIN = /^https?:\/\/[^\s@\\/?#\p{C}]+(?:[/?#][^\s\\\p{C}]*)?$/iu;
/** Characters that browsers ignore or that change the direction of text. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const IGNORED = /[\s\p{C}]/gu;
const SCHEME = /^([a-z][a-z0-9+.-]*):(.*)$/is;
/** A host with a port, which looks like a scheme: `shop.example:8080/boots`. */
export const HOST_AND_PORT = /^[a-z0-9.-]+\.[a-z0-9-]+:\d{1,5}(?:[/?#]|$)/i;
/** User information in front of the host, in a link with or without a scheme. */
const USER_INFO = /^(?:[a-z][a-z0-9+.-]*:)?[\\/]*[^\\/?#]*@/i;

/** A reference that a browser completes: `//host` with a scheme; a path, query or fragment with the page that shows it. */
const RELATIVE = /^[/?#.]/;
/** A web link with its host where readers expect it. Browsers also open `https:host` and `https:///host`. */
const WITH_HOST = /^https?:\/\/[^\\/]/i;

const isWeb = (scheme: string | undefined): boolean => scheme === 'http' || scheme === 'https';

/** Escapes of JSON that a collector left in a link: `https:\/\/shop.example\/?a=1\u0026b=2`. */
const JSON_ESCAPE = /\\(?:(\/)|u00([2-7][\da-f]))/gi;

/**
 * Removes user information and escapes of JSON from a web link and encodes its invisible characters. Returns `null` for other
 * texts.
 */
const normalised = (link: string): string | null => {
  const url = URL.parse(
    link.replaceAll(
      JSON_ESCAPE,
      (_escape, slash?: string, code = '') => slash ?? String.fromCharCode(Number.parseInt(code, 16)),
    ),
  );
  if (url === null) return null;
  url.username = '';
  url.password = '';
  return PLAIN.test(url.href) ? url.href : null;
};

/**
 * Returns a link that may be served. A safe one is returned as observed, with URL macros; user information is removed, and
 * `//host` becomes `https://host`. `null` when the scheme is not allowed or the link cannot be made safe.
 */
export const observedLink = (link: string): string | null => {
  if (PLAIN.test(link)) return link;
  const visible = link.replaceAll(IGNORED, '');
  if (RELATIVE.test(visible)) return visible.startsWith('//') ? observedLink(`https:${link.trim()}`) : null;
  const scheme = HOST_AND_PORT.test(visible) ? undefined : SCHEME.exec(visible)?.[1]?.toLowerCase();
  if (scheme !== undefined && !SCHEMES.has(scheme)) return null;
  const isTricky =
    INVISIBLE.test(link.trim()) ||
    USER_INFO.test(visible) ||
    visible.includes('\\') ||
    (isWeb(scheme) && !WITH_HOST.test(visible));
  if (!isTricky) return link;
  return isWeb(scheme) ? normalised(link.trim()) : null;
};

/** End of the name of a URL field. A value that ends in it is followed by no colon, and quotes within values are escaped. */
const FIELD = 'url"';
/** Characters that JSON allows around a colon. Postgres writes `"url" : "…"` and `"url": "…"`. */
const SPACES: ReadonlySet<string | undefined> = new Set([' ', '\t', '\n', '\r']);
/** Nearly all links that are safe, with printable ASCII only. */
const PLAIN_ASCII = /^https?:\/\/[a-z0-9.:-]+(?:[/?#][!-[\]-~]*)?$/i;
/** First characters of links of this service. */
const MARKS: ReadonlySet<string | undefined> = new Set([BASE_URL_MARK, MEDIA_MARK]);

const afterSpaces = (json: string, at: number): number => {
  let next = at;
  while (SPACES.has(json[next])) next += 1;
  return next;
};

/** Returns where the text of a field begins, with its quote; -1 when no text follows. `at` is the end of its name. */
const startOfText = (json: string, at: number): number => {
  const colon = afterSpaces(json, at);
  if (json[colon] !== ':') return -1;
  const start = afterSpaces(json, colon + 1);
  return json[start] === '"' ? start : -1;
};

const STRING_AT = /"(?:[^"\\]|\\.)*"/sy;

/** Returns a JSON string with a link that may be served, or `null`. `text` includes the quotes. */
const observedText = (text: string): string => {
  const link = JSON.parse(text) as string;
  const observed = observedLink(link);
  return observed === link ? text : JSON.stringify(observed);
};

/**
 * Returns a JSON text in which every URL field holds a link that may be served, else `null`. The names of all URL fields
 * end in `url`. Links of this service, which begin with a mark, stay. It guards replies about events that were recorded
 * before links were checked. It runs for every reply: it looks at URL fields only, and most of them take one test.
 */
export const withObservedLinks = (json: string): string => {
  const parts: string[] = [];
  let copied = 0;
  for (let at = json.indexOf(FIELD); at >= 0; at = json.indexOf(FIELD, at + FIELD.length)) {
    const start = startOfText(json, at + FIELD.length);
    if (start < 0) continue;
    const end = json.indexOf('"', start + 1);
    if (MARKS.has(json[start + 1]) || PLAIN_ASCII.test(json.slice(start + 1, end))) continue;
    STRING_AT.lastIndex = start;
    const [text] = STRING_AT.exec(json) ?? [];
    if (text === undefined) continue;
    const observed = observedText(text);
    if (observed === text) continue;
    parts.push(json.slice(copied, start), observed);
    copied = start + text.length;
  }
  return copied === 0 ? json : parts.join('') + json.slice(copied);
};
