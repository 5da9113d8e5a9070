/** Advertisers choose links, so a link must not run a script, hide its host or hold invisible characters. */
import { BASE_URL_MARK } from '../base-url.ts';
import { MEDIA_MARK } from '../media/stored-media.ts';

const SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'market', 'itms', 'itms-apps', 'itms-appss']);
const PLAIN = /^https?:\/\/[^\s@\\/?#\p{C}]+(?:[/?#][^\s\\\p{C}]*)?$/iu;
/** Browsers ignore these, or they change the direction of text. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const IGNORED = /[\s\p{C}]/gu;
const SCHEME = /^([a-z][a-z0-9+.-]*):(.*)$/is;
/** Looks like a scheme: `shop.example:8080/boots`. */
export const HOST_AND_PORT = /^[a-z0-9.-]+\.[a-z0-9-]+:\d{1,5}(?:[/?#]|$)/i;
const USER_INFO = /^(?:[a-z][a-z0-9+.-]*:)?[\\/]*[^\\/?#]*@/i;

/** A browser completes `//host` with a scheme, and a path, query or fragment with the current page. */
const RELATIVE = /^[/?#.]/;
const WITH_HOST = /^https?:\/\/[^\\/]/i;

const isWeb = (scheme: string | undefined): boolean => scheme === 'http' || scheme === 'https';

/** A collector may leave them: `https:\/\/shop.example\/?a=1\u0026b=2`. */
const JSON_ESCAPE = /\\(?:(\/)|u00([2-7][\da-f]))/gi;

/** Removes user information, unescapes JSON, encodes invisible characters. `null` for other texts. */
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

/** A safe link stays, without user information. `null` for another scheme, or when it cannot be made safe. */
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

const FIELD = 'url"';
/** Postgres writes `"url" : "…"` and `"url": "…"`. */
const SPACES: ReadonlySet<string | undefined> = new Set([' ', '\t', '\n', '\r']);
/** Nearly all safe links. */
const PLAIN_ASCII = /^https?:\/\/[a-z0-9.:-]+(?:[/?#][!-[\]-~]*)?$/i;
/** First characters of links of this service. */
const MARKS: ReadonlySet<string | undefined> = new Set([BASE_URL_MARK, MEDIA_MARK]);

const afterSpaces = (json: string, at: number): number => {
  let next = at;
  while (SPACES.has(json[next])) next += 1;
  return next;
};

const startOfText = (json: string, at: number): number => {
  const colon = afterSpaces(json, at);
  if (json[colon] !== ':') return -1;
  const start = afterSpaces(json, colon + 1);
  return json[start] === '"' ? start : -1;
};

const STRING_AT = /"(?:[^"\\]|\\.)*"/sy;

/** `text` includes the quotes. `null` when the link may not be served. */
const observedText = (text: string): string => {
  const link = JSON.parse(text) as string;
  const observed = observedLink(link);
  return observed === link ? text : JSON.stringify(observed);
};

/**
 * Unsafe links in fields that end in `url` become `null`; the service's own, which begin with a mark, stay. Older
 * events were recorded before links were checked. Runs for every reply, so most links take one test.
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
