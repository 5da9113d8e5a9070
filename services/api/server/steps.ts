import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#application/access/key-lease-cache.ts';
import { type Reply, lagHours, pastHeadersOf, sinceTokenHeader } from '#operations/endpoint/reply.ts';
import { SlugReplaced } from '#operations/brands/find-brand.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import type { Claim, StoredReply } from '../idempotency.ts';
import { type Allowance, setRateHeaders } from '#application/access/request-counts.ts';
import { hash, randomUUID } from 'node:crypto';
import { type DetailCode, type ErrorDetail, Refusal } from '#contracts/errors.ts';
import { LIVE_KEY, TEST_KEY, sha256Of } from '#application/access/key-format.ts';
import { bearerOf } from '#platform/http/request-headers.ts';
import {
  requireScope,
  requireWorkspace,
  openPageCursor,
  signNextCursor,
  BODY_MISSING,
  BODY_NOT_ALLOWED,
  type ReadBody,
  bodyFault,
  validateEndpointInput,
} from '#operations/endpoint/check-request.ts';
import { type HandlerCall, runEndpointHandler } from '#operations/endpoint/run-handler.ts';
import { outsideTimeBudget } from '#platform/concurrency/time-budget.ts';
import { findInvalidUtf8 } from '#platform/http/utf8.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { chooseFormat, linkHeadersOf, sendRows } from './list-formats.ts';
import { type Headers, send } from '#platform/http/http-server.ts';

export type RequestContext = {
  readonly endpoint: Endpoint;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly requestId: string;
  /** Arrival time in milliseconds since 1970. */
  readonly now: number;
  caller: Caller | undefined;
  allowance: Allowance | undefined;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
  /** Parameters that a cursor belongs to. */
  filters: string;
  after: readonly (string | number)[] | null;
  claim: Claim | undefined;
  commandId: string;
  result: Reply | undefined;
  replayed: StoredReply | undefined;
};

export const createRequestContext = (
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  requestId: string,
  now: number,
): RequestContext => ({
  endpoint,
  request,
  reply,
  requestId,
  now,
  caller: undefined,
  allowance: undefined,
  params: {},
  query: {},
  body: undefined,
  filters: '',
  after: null,
  claim: undefined,
  commandId: '',
  result: undefined,
  replayed: undefined,
});

/** Throws when `authenticate` has not run. */
export const callerOf = (context: RequestContext): Caller => {
  if (!context.caller) throw new Error('no caller: authenticate must run first');
  return context.caller;
};

const KEY_REFUSED = new Refusal('unauthorized', 'Send a valid API key: `Authorization: Bearer <API_KEY>`.');
const TEST_KEY_REFUSED = new Refusal(
  'unauthorized',
  'A key that begins with `svc_test_` belongs to a test world, and this installation has none. Use a key that begins with `svc_live_`.',
);
const LIVE_KEY_REFUSED = new Refusal(
  'unauthorized',
  'This is a test world. Use a key that begins with `svc_test_`.',
);

export const addressRefusal = ({ resetIn }: Allowance): Refusal =>
  new Refusal(
    'rate_limited',
    `Too many requests without a valid API key from this address. Try again in ${resetIn} s.`,
  );

/**
 * The error is the same for a missing, malformed, unknown and revoked key. Refused requests are limited by address
 * before a key is hashed.
 */
export const authenticate = (
  context: RequestContext,
  { refusedRequests, callers, keyFormat, keyUsage }: ApiDependencies,
): void | Promise<void> => {
  const { ip, headers } = context.request;
  const key = bearerOf(headers);
  const entered = refusedRequests.enter(ip, key);
  if (entered !== null && typeof entered !== 'string') {
    context.allowance = entered;
    throw addressRefusal(entered);
  }
  if (key === undefined || !keyFormat.isValid(key)) {
    refusedRequests.refuse(ip, key, entered);
    if (key !== undefined && TEST_KEY.isValid(key)) throw TEST_KEY_REFUSED;
    throw key !== undefined && LIVE_KEY.isValid(key) ? LIVE_KEY_REFUSED : KEY_REFUSED;
  }
  const accept = (caller: Caller | null): void => {
    if (!caller) {
      refusedRequests.refuse(ip, key, entered);
      throw KEY_REFUSED;
    }
    refusedRequests.accept(key, entered);
    context.caller = caller;
    keyUsage.record(caller, context.now);
  };
  const found = callers.find(sha256Of(key));
  if (!(found instanceof Promise)) return accept(found);
  return found.then(accept, (error: unknown) => {
    refusedRequests.cancel(entered);
    throw error;
  });
};

export const authorizeScope = (context: RequestContext): void =>
  requireScope(context.endpoint, callerOf(context));

/** Answers 404, not 403, so that no caller finds out which other workspaces exist. */
export const authorizeWorkspace = (context: RequestContext): void =>
  requireWorkspace((context.request.params as { ws?: string }).ws, callerOf(context));

const POSITION = /^[0-9]{1,20}$/;

/**
 * Waits for the position in the header `min-position`. After a timeout the read continues with the projections as they
 * are.
 */
export const awaitMinPosition = (
  context: RequestContext,
  dependencies: ApiDependencies,
): void | Promise<void> => {
  const position = context.request.headers['min-position'];
  if (position === undefined || context.endpoint.method !== 'GET') return;
  if (typeof position !== 'string' || !POSITION.test(position)) {
    const message = 'Send the value of `x-read-position` from an earlier reply, unchanged.';
    throw new Refusal('invalid_input', message, [{ path: 'min-position', message, code: 'invalid_format' }]);
  }
  const { keyId } = callerOf(context);
  return dependencies.readRoutes.waitFor(keyId, context.endpoint.reads, BigInt(position));
};

/** Printable ASCII without spaces, as in the draft of the header. */
const KEY = /^[\x21-\x7e]{1,255}$/;

export const claimIdempotencyKey = async (
  context: RequestContext,
  dependencies: ApiDependencies,
): Promise<void> => {
  context.commandId = randomUUID();
  const key = context.request.headers['idempotency-key'];
  if (key === undefined || context.endpoint.method !== 'POST') return;
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'An idempotency key must be 1 to 255 printable ASCII characters without spaces.';
    throw new Refusal('invalid_input', message, [
      { path: 'idempotency-key', message, code: 'invalid_format' },
    ]);
  }
  // Hashes the validated body, so that white space and property order do not matter.
  const fingerprint = hash('sha256', JSON.stringify(context.body) ?? '', 'base64url');
  const path = context.request.url.split('?', 1)[0] ?? '';
  const { workspaceId, keyId } = callerOf(context);
  const outcome = await dependencies.idempotencyStore.claim({
    workspaceId,
    scope: keyId,
    keyText: bearerOf(context.request.headers) ?? '',
    path,
    key,
    fingerprint,
  });
  if ('commandId' in outcome) {
    context.claim = outcome;
    context.commandId = outcome.commandId;
  } else {
    context.replayed = outcome;
    const { data, asOf, position } = outcome;
    context.result = { data, asOf, position };
  }
};

/** All keys of a workspace share the limit of its plan (specification, part "Limits"). */
export const limitRate = (context: RequestContext, dependencies: ApiDependencies): void | Promise<void> => {
  const { requestCounts, requestsPerMinute } = dependencies;
  const { workspaceId, plan } = callerOf(context);
  const limit = requestsPerMinute(plan);
  const hearing = requestCounts.hearing(workspaceId, limit);
  if (hearing) return hearing.then(() => limitRate(context, dependencies));
  const allowance = requestCounts.take(workspaceId, limit);
  context.allowance = allowance;
  if (allowance.allowed) return undefined;
  throw new Refusal(
    'rate_limited',
    `Rate limit exceeded. Try again in ${allowance.resetIn} s (\`x-ratelimit-reset\`).`,
  );
};

/** A 308 is kept by caches, and another brand may take the slug. */
export const sendReplaced = (
  { endpoint, request, reply, requestId, allowance, params }: RequestContext,
  replaced: SlugReplaced,
): void => {
  const sent = Object.fromEntries(new URL(request.url, 'http://api').searchParams);
  const { params: named, query } = replaced.applyTo({ params, query: sent });
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(named[name]));
  const search = new URLSearchParams(query).toString();
  const headers: Headers = {
    'x-request-id': requestId,
    location: search === '' ? path : `${path}?${search}`,
    'cache-control': 'private, no-cache',
  };
  if (allowance) setRateHeaders(headers, allowance);
  send(reply, 308, headers, '');
};

/** Sends the reply as rows when the client asks for that. */
export const runHandler = async (context: RequestContext, dependencies: ApiDependencies): Promise<void> => {
  if (context.result) return;
  const caller = callerOf(context);
  const format = chooseFormat(context.endpoint, context.request.headers.accept);
  const createCall = (page: HandlerCall['page']): HandlerCall => ({
    params: context.params,
    query: context.query,
    body: context.body,
    caller,
    requestId: context.requestId,
    commandId: context.commandId,
    mayRepeat: context.claim?.isTakenOver === true,
    page,
  });
  const { endpoint, request } = context;
  const run = (key: string, page: HandlerCall['page']): Promise<Reply> =>
    runEndpointHandler(endpoint, caller, key, () => createCall(page), dependencies);
  if (format !== null) {
    await sendRows(context, dependencies, format, (limit, after) =>
      run(`${request.url} ${limit} ${JSON.stringify(after)}`, { limit, after }),
    );
    return;
  }
  const limit = (context.query as { limit?: number }).limit ?? 0;
  context.result = await run(request.url, { limit, after: context.after });
};

/**
 * Runs before the reply is sent, so that a retry finds it. A recorded write is stored also after the request's time.
 */
export const storeIdempotentReply = (context: RequestContext): void | Promise<void> => {
  const { claim, result, endpoint } = context;
  if (!claim || !result) return;
  const { data, asOf, position = null, shownOnce } = result;
  const { status } = endpoint.reply;
  return outsideTimeBudget(() => claim.store({ status, data, asOf, position, shownOnce }));
};

/** RFC 9112, section 3.2. HTTP/1.0 requests may omit the header. */
const HOST_MISSING: ErrorDetail = {
  path: 'host',
  message: 'The Host header is required.',
  code: 'header_missing',
};
const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Decides by the headers (RFC 9112, section 6.3). */
const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const notUtf8 = (path: string): ErrorDetail => ({
  path,
  message: 'This part of the request is not valid UTF-8.',
  code: 'invalid_utf8',
});

const unsupportedMediaType = (message: string, code: DetailCode): Refusal =>
  new Refusal('unsupported_media_type', message, [{ path: '', message, code }]);

const readBody = (endpoint: Endpoint, request: FastifyRequest): ReadBody => {
  if (!endpoint.body) return hasBody(request) ? BODY_NOT_ALLOWED : { value: undefined };
  const text = request.body;
  if (typeof text !== 'string' || text === '') return BODY_MISSING;
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    throw unsupportedMediaType('Send the body with `content-type: application/json`.', 'content_type');
  }
  if (request.headers['content-encoding'] !== undefined) {
    throw unsupportedMediaType('Send the body as it is, without `content-encoding`.', 'content_encoding');
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return bodyFault('The body is not valid JSON.', 'invalid_json');
  }
};

/** Throws one refusal with all faults. */
export const validateInput = (context: RequestContext, dependencies: ApiDependencies): void => {
  const { endpoint, request } = context;
  const isHostMissing = request.headers.host === undefined && request.raw.httpVersionMinor > 0;
  const invalid = findInvalidUtf8(request.raw);
  const input = validateEndpointInput(
    endpoint,
    {
      params: request.params,
      query: request.raw.url?.includes('?') ? request.query : undefined,
      body: readBody(endpoint, request),
    },
    [...(isHostMissing ? [HOST_MISSING] : []), ...(invalid === null ? [] : [notUtf8(invalid)])],
  );
  context.params = input.params;
  context.query = input.query;
  context.body = input.body;
  const { filters, after } = openPageCursor(endpoint, callerOf(context), input, dependencies.cursors);
  context.filters = filters;
  context.after = after;
};

/** A result that is shared by several requests is hashed once. */
const etags = new WeakMap<Reply, string>();

/** The ETag is weak: equal results are sent with different request ids and lags. */
export const etagOf = (result: Reply): string => {
  const known = etags.get(result);
  if (known !== undefined) return known;
  const { asOf, next, freshness = '', data } = result;
  const etag = `W/"${hash('sha1', `${asOf}${next ? 1 : 0}${freshness}${data}`, 'base64url')}"`;
  etags.set(result, etag);
  return etag;
};

/** Compares weakly (RFC 9110, section 13.1.2). */
export const matchesEtag = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => `W/${one.trim().replace(/^W\//, '')}` === etag));

/** Concatenates the body, because `data` is already JSON text. */
export const envelope = (requestId: string, now: number, result: Reply, cursor: string | null): string => {
  const asOf = result.asOf ?? new Date(now).toISOString();
  const lag = lagHours(result.asOf, now);
  return (
    `{"data":${result.data},"meta":{"request_id":"${requestId}","as_of":"${asOf}","lag_hours":${lag}` +
    (cursor === null ? '' : `,"cursor":"${cursor}"`) +
    (result.count === undefined ? '' : `,"count":${result.count}`) +
    (result.freshness === undefined ? '' : `,"freshness":${result.freshness}`) +
    '}}'
  );
};

export const sendReply = (context: RequestContext, { baseUrl, cursors, clock }: ApiDependencies): void => {
  const { result, endpoint, request } = context;
  // Rows were sent by the handler's step.
  if (!result && context.reply.sent) return;
  if (!result) throw new Error('no result to send: runHandler must run first');
  const headers: Headers = { 'x-request-id': context.requestId };
  if (context.allowance) setRateHeaders(headers, context.allowance);
  if (endpoint.corpus) {
    const etag = etagOf(result);
    headers['etag'] = etag;
    headers['cache-control'] = 'private, no-cache';
    if (matchesEtag(request.headers['if-none-match'], etag))
      return send(context.reply, 304, headers, '', { mayCompress: true });
  }
  if (result.position !== undefined && result.position !== null) {
    headers['x-read-position'] = result.position.toString();
  }
  Object.assign(
    headers,
    pastHeadersOf(result),
    sinceTokenHeader(result),
    linkHeadersOf(context, result, baseUrl),
  );
  if (context.replayed) headers['idempotency-replayed'] = 'true';
  const cursor = signNextCursor(context.filters, result, cursors);
  // The lag of a read counts from the arrival of the request; that of a write, from now.
  const now = endpoint.method === 'GET' ? context.now : clock.now().getTime();
  const body = envelope(context.requestId, now, result, cursor);
  send(context.reply, context.replayed?.status ?? endpoint.reply.status, headers, body, {
    // Replies of writes may show a secret.
    mayCompress: endpoint.method === 'GET',
  });
};
