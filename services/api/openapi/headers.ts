type Json = { readonly [key: string]: unknown };

/** Request and response headers of the contract, except `authorization`. */

export const headerRefs = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const RATE_HEADERS = [
  'x-request-id',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
];
export const ROW_HEADERS = ['x-as-of'];
export const PAST_HEADERS = ['x-as-of-events', 'x-as-of-late-events'];
export const LINK_HEADERS = ['link'];
export const CHANGES_HEADERS = ['x-next-since-token'];
export const CORPUS_HEADERS = ['etag', 'cache-control'];

const integerHeader = (description: string): Json => ({
  description,
  schema: { type: 'integer', minimum: 0 },
});
const textHeader = (description: string): Json => ({ description, schema: { type: 'string' } });

export const HEADERS: Json = {
  'x-request-id': textHeader('Names this request; the same as in the body.'),
  'x-ratelimit-limit': integerHeader('Requests a minute.'),
  'x-ratelimit-remaining': integerHeader('Requests left in this minute.'),
  'x-ratelimit-reset': integerHeader('When the minute ends, in seconds since 1970.'),
  'ratelimit-policy': textHeader(
    'The limit as `"minute";q=<requests>;w=<seconds>` (draft-ietf-httpapi-ratelimit-headers).',
  ),
  ratelimit: textHeader('What is left of it as `"minute";r=<requests>;t=<seconds until it starts afresh>`.'),
  'retry-after': integerHeader('Seconds to wait.'),
  'www-authenticate': textHeader('`Bearer`.'),
  etag: textHeader('Names these figures; send it as `if-none-match`.'),
  'cache-control': textHeader('Keep the answer if you like, and ask with its ETag whether it still holds.'),
  location: textHeader('Path and query with the present slug of the brand.'),
  'x-read-position': textHeader(
    'Where the change stands in the log, or how much of it the read shows; send the greatest one as `min-position` with a read. Absent when there is nothing to wait for.',
  ),
  link: textHeader(
    '`<address>; rel="describedby"` on an empty list about one brand: what was observed of the brand, and what was not; on a brief or report that was restated: its restatements. A deprecated endpoint also names what replaces it, as `rel="successor-version"`.',
  ),
  'x-as-of': textHeader('`as_of` of a list that is sent as rows.'),
  'x-as-of-events': integerHeader('With `as_of` or `observed_as_of`: how many events the answer rests on.'),
  'x-as-of-late-events': integerHeader(
    'With `as_of`: how many events about observations up to that moment were recorded only afterwards, for example by a late scan. The answer does not have them; the present one does. With `observed_as_of` it has them.',
  ),
  'x-next-since-token': textHeader(
    'On the last page of a list of changes, and on its rows: send it as `since_token` of the next call, which then lists each change after this call once. Use it when all pages are read.',
  ),
  'idempotency-replayed': textHeader(
    '`true` on the answer of an earlier request with the same idempotency key; otherwise absent.',
  ),
};

export const DEPRECATION_HEADERS: Json = {
  deprecation: textHeader('Since when the endpoint is deprecated, as `@<seconds since 1970>` (RFC 9745).'),
  sunset: textHeader('From when on the endpoint may be gone (RFC 8594).'),
};

export const PARAMETERS: Json = {
  MinPosition: {
    name: 'min-position',
    in: 'header',
    required: false,
    description:
      'The greatest `x-read-position` of earlier replies. The reply waits up to two seconds for read models that show as much.',
    schema: { type: 'string', pattern: '^[0-9]{1,20}$' },
  },
  IfNoneMatch: {
    name: 'if-none-match',
    in: 'header',
    required: false,
    description:
      'ETag of an earlier reply to the same workspace. 304 when it still holds; such a reply counts against the limit as any other.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'idempotency-key',
    in: 'header',
    required: false,
    description:
      'For 24 hours, a request with the same key and body returns the first reply and does nothing; another body returns 409. A reply with an API key or a signing secret is repeated for 55 minutes and until that key is revoked; afterwards the request returns 409.',
    schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  },
};
