import createOpenApiClient, { type Client, type MethodResponse } from 'openapi-fetch';
import type { components, PagedPath, paths } from './openapi-types.ts';
import { createSender, type SenderOptions } from './sender.ts';

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
