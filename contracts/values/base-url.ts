/** Stands for the base URL in stored JSON, which escapes control characters, so it occurs nowhere else. */
export const BASE_URL_MARK = '\u0001';

export const BASE_URL_SQL = 'chr(1)';

/** The mark at the start of a URL, as JSON serializers escape it. */
const ESCAPED_START = '\\u0001/';

/** `opening`: the text before the URL, such as `"url":"`, so that the values of other fields stay unchanged. */
export const unescapeBaseUrl = (json: string, opening = '"'): string =>
  json.replaceAll(`${opening}${ESCAPED_START}`, `${opening}${BASE_URL_MARK}/`);

export const unescapedBaseUrlSql = (json: string): string =>
  `replace(${json}, '"${ESCAPED_START}', '"' || ${BASE_URL_SQL} || '/')`;
