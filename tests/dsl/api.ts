import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { ErrorBody } from '#contracts/resources/envelope.ts';
import { ERRORS } from '#contracts/errors.ts';
import { type Endpoint, errorsOf } from '#operations/endpoint/define-endpoint.ts';
import { takesBrandSlug } from '#operations/endpoint/parameters.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { openApiDocument, replySchema } from '#services/api/openapi/document.ts';

/** `await on(app).get(path, { key })` first checks every reply against the published contract of the endpoint. */
export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | string[] | undefined>>;
  readonly data: never;
  readonly meta: { request_id: string; as_of: string; cursor?: string; count?: number; freshness?: object };
  readonly error: {
    type: string;
    message: string;
    status: number;
    details?: { path: string; code: string }[];
  };
  readonly body: string;
};

type Options = {
  readonly key?: string | { readonly text: string };
  readonly headers?: Readonly<Record<string, string>>;
  /** Request body: a string is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
};

const statusesOf = (endpoint: Endpoint): readonly number[] => [
  endpoint.reply.status,
  ...(endpoint.corpus ? [304] : []),
  ...(takesBrandSlug(endpoint) ? [308] : []),
  ...Object.values(ERRORS)
    .filter(({ type }) => errorsOf(endpoint).includes(type))
    .map(({ status }) => status),
];

export const endpointAt = (method: string, url: string): Endpoint | undefined => {
  const path = url.split('?', 1)[0] ?? '';
  const fits = ({ path: template }: Endpoint): boolean =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
  const candidates = ENDPOINTS.filter((endpoint) => endpoint.method === method && fits(endpoint));
  // The path with the fewest parameters wins, as in the router.
  return candidates.toSorted((one, other) => one.path.split('{').length - other.path.split('{').length)[0];
};

type Documented = { readonly $ref?: string; readonly headers?: Readonly<Record<string, unknown>> };
type Document = {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, Documented> }>>;
  readonly components: { readonly responses: Record<string, Documented> };
};
const published = openApiDocument() as unknown as Document;

/** Headers of HTTP itself, which no endpoint documents. */
const TRANSPORT_HEADERS = [
  'content-type',
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'vary',
  'content-encoding',
];

const unnamedHeaders = (endpoint: Endpoint, status: number, headers: Reply['headers']): readonly string[] => {
  const response = published.paths[endpoint.path]?.[endpoint.method.toLowerCase()]?.responses[status];
  const named = response?.$ref
    ? published.components.responses[response.$ref.split('/').at(-1) ?? '']
    : response;
  const documented = new Set([...TRANSPORT_HEADERS, ...Object.keys(named?.headers ?? {})]);
  return Object.keys(headers).filter((name) => !documented.has(name));
};

const checkAgainstContract = (
  endpoint: Endpoint | undefined,
  status: number,
  headers: Reply['headers'],
  body: string,
): void => {
  const requestId = headers['x-request-id'];
  if (endpoint) {
    expect(statusesOf(endpoint), `statuses of ${endpoint.operationId}`).toContain(status);
    expect(unnamedHeaders(endpoint, status, headers), `headers of ${endpoint.operationId}`).toEqual([]);
  }
  if (status === 304 || status === 308) return expect(body).toBe('');
  const parsed: unknown = JSON.parse(body);
  if (status >= 400) {
    const { error } = ErrorBody.parse(parsed);
    expect(error.status).toBe(status);
    expect(error.request_id).toBe(requestId);
  } else if (endpoint) {
    const result = replySchema(endpoint).safeParse(parsed);
    expect(result.error?.issues ?? [], `reply of ${endpoint.operationId}`).toEqual([]);
    const { data, meta } = parsed as { data: unknown; meta: { request_id: string; count?: number } };
    expect(meta.request_id).toBe(requestId);
    if (Array.isArray(data)) expect(meta.count).toBe(data.length);
  }
};

const call = async (app: FastifyInstance, method: string, url: string, options: Options): Promise<Reply> => {
  const { key, headers, body } = options;
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const reply = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${typeof key === 'string' ? key : key.text}` }),
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(text === undefined ? {} : { payload: text }),
  });
  checkAgainstContract(endpointAt(method, url), reply.statusCode, reply.headers, reply.body);
  const { data, meta, error } = (reply.body === '' ? {} : JSON.parse(reply.body)) as Pick<
    Reply,
    'data' | 'meta' | 'error'
  >;
  return { status: reply.statusCode, headers: reply.headers, data, meta, error, body: reply.body };
};

export const on = (app: FastifyInstance) => ({
  get: (url: string, options: Options = {}) => call(app, 'GET', url, options),
  post: (url: string, options: Options = {}) => call(app, 'POST', url, options),
  patch: (url: string, options: Options = {}) => call(app, 'PATCH', url, options),
  delete: (url: string, options: Options = {}) => call(app, 'DELETE', url, options),
  send: (method: string, url: string, options: Options = {}) => call(app, method, url, options),
});
