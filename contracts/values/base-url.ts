/**
 * The placeholder for the service's base URL in stored JSON texts. With it, stored texts stay valid when the
 * service moves to another URL. The API replaces it when it replies. JSON escapes control characters in values, so
 * a raw U+0001 occurs in no other place of a text.
 */
export const BASE_URL_MARK = '\u0001';

/** SQL of `BASE_URL_MARK`. */
export const BASE_URL_SQL = 'chr(1)';

/** A URL that begins with the mark, as JSON serializers write it: with the mark escaped. */
const ESCAPED_START = '\\u0001/';

/**
 * Unescapes the mark at the start of URLs in a JSON text. `opening` is the text before the URL: its quote, or a field name
 * and the quote, such as `"url":"`. Then the values of other fields stay unchanged.
 */
export const unescapeBaseUrl = (json: string, opening = '"'): string =>
  json.replaceAll(`${opening}${ESCAPED_START}`, `${opening}${BASE_URL_MARK}/`);

/** SQL of `unescapeBaseUrl` for a text that Postgres serialized. */
export const unescapedBaseUrlSql = (json: string): string =>
  `replace(${json}, '"${ESCAPED_START}', '"' || ${BASE_URL_SQL} || '/')`;
