import createOpenApiClient, { type Client, type MethodResponse } from 'openapi-fetch';
import type { components, PagedPath, paths } from './openapi-types.ts';

type SenderOptions = {
  /** Repetitions of a request at most; 4 by default. 0 turns them off. */
  readonly retries?: number;
  /** No repetition is sent later than this after the first attempt; 75 s by default, so that a minute's limit is over. */
  readonly retryWithinMs?: number;
  /** Limit of one attempt with its reply; 30 s by default, which is more than the API takes. */
  readonly timeoutMs?: number;
  /** Position to begin with, from `position()` of another client. */
  readonly minPosition?: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
};

type Sender = { send(request: Request): Promise<Response>; position(): string | undefined };

const RETRIES = 4;
const RETRY_WITHIN_MS = 75_000;
const TIMEOUT_MS = 30_000;

/** Milliseconds to wait, or `null` without a valid header (RFC 9110, section 10.2.3). */
const retryAfterMs = (response: Response): number | null => {
  const text = response.headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
};

/**
 * A 429 was not executed. Behind a 503 a write may be recorded, so that only requests are repeated that may arrive
 * twice (RFC 9110, section 9.2.2): reads, removals, and with their idempotency key those that create something.
 */
const mayRepeat = ({ method }: Request, status: number): boolean =>
  status === 429 || (status === 503 && method !== 'PATCH');

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });

/** Sends requests of the API: with idempotency keys and positions, with a timeout, and again after `retry-after`. */
const createSender = (options: SenderOptions): Sender => {
  const { retries = RETRIES, retryWithinMs = RETRY_WITHIN_MS, timeoutMs = TIMEOUT_MS } = options;
  let position = BigInt(options.minPosition ?? 0);
  const positionText = (): string | undefined => (position === 0n ? undefined : position.toString());

  const attempt = async (request: Request): Promise<Response> => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    const sent = new Request(request.clone(), { signal });
    const response = await (options.fetch ?? fetch)(sent);
    const text = response.headers.get('x-read-position') ?? '';
    if (/^\d+$/.test(text) && BigInt(text) > position) position = BigInt(text);
    return response;
  };

  return {
    position: positionText,
    send: async (request) => {
      const { headers, method } = request;
      const minPosition = positionText();
      if (method === 'GET' && minPosition && !headers.has('min-position'))
        headers.set('min-position', minPosition);
      if (method === 'POST' && !headers.has('idempotency-key'))
        headers.set('idempotency-key', crypto.randomUUID());
      const until = performance.now() + retryWithinMs;
      for (let sent = 1; ; sent += 1) {
        const response = await attempt(request);
        const waitMs = mayRepeat(request, response.status) ? retryAfterMs(response) : null;
        if (waitMs === null || sent > retries || performance.now() + waitMs > until) return response;
        await response.body?.cancel();
        await pause(waitMs, request.signal);
      }
    },
  };
};

export { readWebhook, verifyWebhook, type WebhookPayload, WebhookRefused } from './webhooks.ts';
export type { components, operations, PagedPath, paths } from './openapi-types.ts';

/** Client of the REST API. Imports `openapi-fetch` and files of this folder only, so that browsers can load it. */

export type Schemas = components['schemas'];

export type ClientOptions = SenderOptions & {
  /** Base URL of the API, without `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
};

/** Refused request, thrown by `pages` and `items`. Other calls return the reply as `error`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** `null` when the reply did not come from the API, such as that of a proxy. */
  readonly body: Schemas['Error']['error'] | null;

  constructor(response: Response, reply: unknown) {
    const body = (reply as Schemas['Error'] | undefined)?.error ?? null;
    super(body?.message ?? `The API replied with status ${response.status}.`);
    this.status = response.status;
    this.body = body;
  }
}

/** Limits `parseAs` replies to JSON; `text/csv` is read with `parseAs: 'stream'` and a header `accept`. */
type Json = 'application/json';
type OpenApiClient = Client<paths, Json>;

type Page<Path extends PagedPath> = MethodResponse<OpenApiClient, 'get', Path>;
type Item<Path extends PagedPath> = Page<Path> extends { data: ReadonlyArray<infer One> } ? One : never;
/** The same as the options of `GET`. */
type PageOptions<Path extends PagedPath> = {
  readonly params?: Omit<paths[Path]['get']['parameters'], 'header'>;
  readonly signal?: AbortSignal;
};
type RequiredOptions<Path extends PagedPath> = paths[Path]['get']['parameters'] extends { path: object }
  ? [PageOptions<Path> & { readonly params: { readonly path: paths[Path]['get']['parameters']['path'] } }]
  : [PageOptions<Path>?];

export type ApiClient = Pick<OpenApiClient, 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'request'> & {
  /** Replies of a list, page by page. Throws `ApiError`. */
  pages<Path extends PagedPath>(path: Path, ...options: RequiredOptions<Path>): AsyncGenerator<Page<Path>>;
  /** Items of all pages of a list. Throws `ApiError`. */
  items<Path extends PagedPath>(path: Path, ...options: RequiredOptions<Path>): AsyncGenerator<Item<Path>>;
  /** The greatest `x-read-position` so far, for the option `minPosition` of another process. */
  position(): string | undefined;
};

type AnyPage = { readonly data: readonly unknown[]; readonly meta: { readonly cursor?: string } };
type AnyOptions = { readonly params?: { readonly query?: object }; readonly signal?: AbortSignal };

export const createClient = ({ baseUrl, apiKey, ...options }: ClientOptions): ApiClient => {
  const sender = createSender(options);
  const { GET, POST, PATCH, DELETE, request } = createOpenApiClient<paths, Json>({
    baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    fetch: (one) => sender.send(one),
    // One comma-separated value: `?types=a,b`.
    querySerializer: { array: { style: 'form', explode: false } },
  });
  const get = GET as unknown as (
    path: string,
    options: AnyOptions,
  ) => Promise<{ readonly data?: AnyPage; readonly error?: unknown; readonly response: Response }>;

  async function* pages(path: string, given: AnyOptions = {}): AsyncGenerator<AnyPage> {
    let query = given.params?.query ?? {};
    while (true) {
      const { data, error, response } = await get(path, { ...given, params: { ...given.params, query } });
      if (data === undefined) throw new ApiError(response, error);
      yield data;
      if (data.meta.cursor === undefined) return;
      query = { ...query, cursor: data.meta.cursor };
    }
  }
  async function* items(path: string, given?: AnyOptions): AsyncGenerator {
    for await (const { data } of pages(path, given)) yield* data;
  }
  const paging = { pages, items } as unknown as Pick<ApiClient, 'pages' | 'items'>;
  return {
    GET,
    POST,
    PATCH,
    DELETE,
    request,
    ...paging,
    position: () => sender.position(),
  };
};
