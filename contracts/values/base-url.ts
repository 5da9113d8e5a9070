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
 * Unescapes the mark where a JSON text has it after `opening`, the quote of the URL. A longer `opening`, such as
 * `"url":"`, leaves other values that begin like a marked URL unchanged.
 */
export const unescapeBaseUrl = (json: string, opening = '"'): string =>
  json.replaceAll(`${opening}${ESCAPED_START}`, `${opening}${BASE_URL_MARK}/`);

/** SQL of `unescapeBaseUrl` for a text that Postgres serialized. */
export const unescapedBaseUrlSql = (json: string): string =>
  `replace(${json}, '"${ESCAPED_START}', '"' || ${BASE_URL_SQL} || '/')`;
