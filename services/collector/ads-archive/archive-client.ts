import { createHmac } from 'node:crypto';
import { observedText } from '#contracts/values/text.ts';
import { type JsonObject, isObject, objectAt } from '#domain/shapes/json-object.ts';
import { FIRST_PAGE_SIZE, type PageSize, type Usage, usageOf } from '#domain/collecting/pace.ts';
import { type Route, requestOnce } from '#platform/http-client/request-once.ts';

export type ArchiveAnswer =
  /** `after` is `null` at the end of the list. */
  | { readonly kind: 'page'; readonly ads: readonly unknown[]; readonly after: string | null }
  | { readonly kind: 'limited'; readonly detail: string }
  | { readonly kind: 'reduce'; readonly detail: string }
  | { readonly kind: 'fault'; readonly detail: string }
  | { readonly kind: 'denied'; readonly detail: string }
  | { readonly kind: 'invalid'; readonly detail: string };

const LIMITS: ReadonlySet<unknown> = new Set([4, 17, 32, 368, 613, 80004]);
const INVALID_PARAMETER = 100;
const TOO_MANY_REQUESTS = 429;
const isDenied = (code: unknown): boolean =>
  code === 10 || code === 190 || (typeof code === 'number' && code >= 200 && code <= 299);

const MESSAGE_MAX_LENGTH = 300;
/** Tokens as they occur in the platform's messages and URLs. */
const TOKENS = /\bEAA\w{10,}|((?:access_token|appsecret_proof|client_secret|fb_exchange_token)=)[^&\s"']+/g;

const CURSOR_MAX_LENGTH = 10_000;

export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret !== '')
    .reduce((shown, secret) => shown.replaceAll(secret, '(removed)'), text)
    .replaceAll(TOKENS, '$1(removed)')
    .slice(0, MESSAGE_MAX_LENGTH)
    .toWellFormed()
    .replaceAll('\0', '\uFFFD');

const Cursor = observedText(CURSOR_MAX_LENGTH);

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
};

const cursorOf = (value: JsonObject): string | null => {
  const after = objectAt(objectAt(value, 'paging'), 'cursors')['after'];
  return typeof after === 'string' && after !== '' ? after : null;
};

/** Unknown error codes count as temporary faults. */
export const readArchiveAnswer = (
  status: number,
  body: Buffer,
  secrets: readonly string[],
): ArchiveAnswer => {
  const value = parse(body);
  if (!isObject(value)) {
    const kind = status === TOO_MANY_REQUESTS ? 'limited' : 'fault';
    return { kind, detail: `answered ${status} without an object of JSON` };
  }
  if (status === 200 && Array.isArray(value['data'])) {
    const after = cursorOf(value);
    if (after === null || Cursor.safeParse(after).success) return { kind: 'page', ads: value['data'], after };
    return { kind: 'fault', detail: 'answered 200 with a cursor that cannot be kept' };
  }
  const { code, error_subcode: subcode, message } = objectAt(value, 'error');
  const text = withoutSecrets(typeof message === 'string' ? message : 'without a message', secrets);
  const codes = [code, subcode].filter((one) => typeof one === 'number').join(', subcode ');
  const detail = `answered ${status}, code ${codes === '' ? 'unknown' : codes}: ${text}`;
  if (LIMITS.has(code) || status === TOO_MANY_REQUESTS) return { kind: 'limited', detail };
  if (code === 1 && /reduce/i.test(text)) return { kind: 'reduce', detail };
  if (isDenied(code)) return { kind: 'denied', detail };
  if (code === INVALID_PARAMETER) return { kind: 'invalid', detail };
  return { kind: 'fault', detail };
};

/** `doubted`: a second read of pages with an empty reply. */
export type ArchivePass = 'active' | 'inactive' | 'doubted';

export type RefusedPage = { readonly page_id: string; readonly message: string };

/** Holds neither tokens nor URLs of the platform. */
export type ArchiveCursor = {
  readonly pass: ArchivePass | 'done';
  /** Groups left in this pass; the first is being read. */
  readonly groups: readonly (readonly string[])[];
  /** Number of the list in progress; it changes with the pass and the group. */
  readonly list: number;
  readonly after: string | null;
  readonly size: PageSize;
  readonly page: number;
  readonly refusedPages: readonly RefusedPage[];
  /** The platform returned a cursor twice. */
  readonly looped: boolean;
  /** The token was rejected while active ads were read. */
  readonly tokenLost: boolean;
  readonly refusedAds: number;
  readonly refusedReason: string | null;
  readonly cutTexts: number;
  readonly leftOut: number;
  readonly doubted: readonly string[];
  readonly doubtedAtMs: number;
  /** Why reading of ended ads stopped early; `null` when it did not, or was not requested. */
  readonly stopsSkipped: string | null;
};

export const PAGES_PER_CALL_MAX = 10;

export const groupsOf = (pageIds: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(pageIds.length / PAGES_PER_CALL_MAX) }, (_, index) =>
    pageIds.slice(index * PAGES_PER_CALL_MAX, (index + 1) * PAGES_PER_CALL_MAX),
  );

export const firstCursor = (pageIds: readonly string[]): ArchiveCursor => ({
  pass: 'active',
  groups: groupsOf(pageIds),
  list: 0,
  after: null,
  size: FIRST_PAGE_SIZE,
  page: 0,
  refusedPages: [],
  looped: false,
  tokenLost: false,
  refusedAds: 0,
  refusedReason: null,
  cutTexts: 0,
  leftOut: 0,
  doubted: [],
  doubtedAtMs: 0,
  stopsSkipped: null,
});

export const atList = (cursor: ArchiveCursor, changes: Partial<ArchiveCursor>): ArchiveCursor => ({
  ...cursor,
  list: cursor.list + 1,
  after: null,
  ...changes,
});

/** Omits the snapshot URL, which holds the caller's token, and money and reach, which the service must not store. */
const FIELDS = [
  'id',
  'page_id',
  'page_name',
  'ad_delivery_start_time',
  'ad_delivery_stop_time',
  'ad_creative_bodies',
  'ad_creative_link_titles',
  'ad_creative_link_captions',
  'ad_creative_link_descriptions',
  'languages',
  'publisher_platforms',
];

/** Also holds numbers of people, which are dropped at once. */
const REACHED_FIELD = 'age_country_gender_reach_breakdown';

export type ArchiveRequest = {
  readonly pass: ArchivePass;
  readonly pageIds: readonly string[];
  readonly countries: readonly string[];
  /** UTC date from which inactive ads are requested; `null` for all. */
  readonly since: string | null;
  readonly limit: number;
  /** Opaque; `null` for the first reply. */
  readonly after: string | null;
};

export type ArchiveSearch = {
  readonly phrase: string;
  readonly countries: readonly string[];
  readonly limit: number;
  readonly after: string | null;
};

/** The page of an ad, and its destination as the advertiser writes it. */
const SEARCH_FIELDS = ['id', 'page_id', 'page_name', 'ad_creative_link_captions'];

const listOf = (texts: readonly string[]): string => `[${texts.join(',')}]`;

const searchParameters = ({ phrase, countries, limit, after }: ArchiveSearch): URLSearchParams =>
  new URLSearchParams({
    search_terms: phrase,
    search_type: 'KEYWORD_EXACT_PHRASE',
    ad_reached_countries: listOf(countries.map((country) => `'${country}'`)),
    ad_active_status: 'ALL',
    ad_type: 'ALL',
    fields: SEARCH_FIELDS.join(','),
    limit: String(limit),
    ...(after === null ? {} : { after }),
  });

/** Holds no secret. `reached` requests the countries of each ad. */
const archiveParameters = (request: ArchiveRequest | ArchiveSearch, reached = false): URLSearchParams => {
  if ('phrase' in request) return searchParameters(request);
  const { pass, pageIds, countries, since, limit, after } = request;
  return new URLSearchParams({
    search_page_ids: listOf(pageIds),
    ad_reached_countries: listOf(countries.map((country) => `'${country}'`)),
    ad_active_status: pass === 'inactive' ? 'INACTIVE' : 'ACTIVE',
    ad_type: 'ALL',
    fields: (reached ? [...FIELDS, REACHED_FIELD] : FIELDS).join(','),
    limit: String(limit),
    ...(pass === 'inactive' && since !== null ? { ad_delivery_date_min: since } : {}),
    ...(after === null ? {} : { after }),
  });
};

export const ANSWER_MAX_BYTES = 16 * 1024 ** 2;

export type ArchiveClientOptions = Route & {
  readonly origin: string;
  readonly version: string;
  readonly userAgent: string;
  readonly token: string;
  /** `null` when calls carry no proof of the app. */
  readonly appSecret: string | null;
  /** Requests the countries that each ad reached. Replies are then about three times as large. */
  readonly reached: boolean;
};

export type ArchiveCall = { readonly answer: ArchiveAnswer; readonly usage: Usage | null };

export type ArchiveClient = {
  /** Throws only on abort. */
  call(request: ArchiveRequest | ArchiveSearch, signal: AbortSignal): Promise<ArchiveCall>;
};

export const countCalls = (client: ArchiveClient, counted: (answer: string) => void): ArchiveClient => ({
  call: async (request, signal) => {
    const call = await client.call(request, signal);
    counted(call.answer.kind);
    return call;
  },
});

/** `appsecret_proof`: an HMAC-SHA-256 of the token. */
const proofOf = (token: string, appSecret: string): string =>
  createHmac('sha256', appSecret).update(token).digest('hex');

/** Sends the token in a header, so that no URL holds it. Follows no redirect: another host must not receive it. */
export const createArchiveClient = (options: ArchiveClientOptions): ArchiveClient => {
  const { origin, version, userAgent, token, appSecret, reached } = options;
  const proof = appSecret === null ? null : proofOf(token, appSecret);
  const secrets = [token, ...(appSecret === null ? [] : [appSecret]), ...(proof === null ? [] : [proof])];
  return {
    call: async (request, signal) => {
      const parameters = archiveParameters(request, reached);
      if (proof !== null) parameters.set('appsecret_proof', proof);
      const url = new URL(`/${version}/ads_archive?${parameters.toString()}`, origin);
      try {
        const { status, headers, body } = await requestOnce(options, url, {
          headers: { authorization: `Bearer ${token}`, 'user-agent': userAgent, accept: 'application/json' },
          maxBytes: ANSWER_MAX_BYTES,
          overflow: 'fail',
          signal,
        });
        return { answer: readArchiveAnswer(status, body, secrets), usage: usageOf(headers) };
      } catch (error) {
        signal.throwIfAborted();
        const { message } = error as Error;
        return { answer: { kind: 'fault', detail: withoutSecrets(message, secrets) }, usage: null };
      }
    },
  };
};
