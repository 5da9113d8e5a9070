import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

/** Faults beyond this number help nobody. */
const DETAILS_MAX = 50;
/** RFC 9112, section 3.2. */
const HOST_MISSING = { path: 'host', message: 'Say whom you ask.', code: 'header_missing' };
const JSON_TYPE = /^application\/json\s*(;|$)/i;

const detailsOf = (error: z.core.$ZodError): readonly ErrorDetail[] =>
  error.issues.flatMap((issue): ErrorDetail[] => {
    const path = issue.path.join('.');
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message, code: issue.code }];
    return issue.keys.map((key) => ({
      path: path === '' ? key : `${path}.${key}`,
      message: 'There is no such parameter or property.',
      code: issue.code,
    }));
  });

const refuse = (details: readonly ErrorDetail[]): never => {
  throw new Refusal('invalid_input', 'The input was rejected; see details.', details.slice(0, DETAILS_MAX));
};

type Read = { readonly body: unknown } | { readonly faults: readonly ErrorDetail[] };

const bodyFault = (message: string, code: string): Read => ({ faults: [{ path: '', message, code }] });

const parseBody = (request: FastifyRequest): Read => {
  const text = request.body;
  if (typeof text !== 'string' || text === '') return bodyFault('A JSON body is required.', 'body_missing');
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    return bodyFault('Send the body with `content-type: application/json`.', 'content_type');
  }
  try {
    return { body: JSON.parse(text) as unknown };
  } catch {
    return bodyFault('The body is not valid JSON.', 'invalid_json');
  }
};

/** RFC 9112, section 6.3: a request without either of these headers has no body. */
const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const readBody = (endpoint: Endpoint, request: FastifyRequest): Read => {
  if (!endpoint.body) {
    return hasBody(request) ? bodyFault('Send no body here.', 'body_not_allowed') : { body: undefined };
  }
  const parsed = parseBody(request);
  if ('faults' in parsed) return parsed;
  const checked = endpoint.body.schema.safeParse(parsed.body);
  return checked.success ? { body: checked.data } : { faults: detailsOf(checked.error) };
};

/** Parameters as they are when none is given: what most reads ask for. */
const absent = new WeakMap<Endpoint, Record<string, unknown>>();
const queryWhenAbsent = (endpoint: Endpoint): Record<string, unknown> | undefined => {
  const known = absent.get(endpoint);
  if (known) return known;
  const parsed = endpoint.query.safeParse({});
  if (!parsed.success) return undefined;
  absent.set(endpoint, parsed.data);
  return parsed.data;
};

/** Path, query and body are what the endpoint's contract says, nothing more; all faults are told at once. */
export const validateInput = (context: RequestContext, dependencies: ApiDependencies): void => {
  const { endpoint, request } = context;
  const details: ErrorDetail[] = [];
  if (request.headers.host === undefined && request.raw.httpVersionMinor > 0) details.push(HOST_MISSING);

  const params = endpoint.params.safeParse(request.params);
  if (params.success) context.params = params.data;
  else details.push(...detailsOf(params.error));

  const plain = request.raw.url?.includes('?') ? undefined : queryWhenAbsent(endpoint);
  if (plain) context.query = plain;
  else {
    const query = endpoint.query.safeParse(request.query);
    if (query.success) context.query = query.data;
    else details.push(...detailsOf(query.error));
  }

  const read = readBody(endpoint, request);
  if ('faults' in read) details.push(...read.faults);
  else context.body = read.body;
  if (details.length > 0) refuse(details);

  if (endpoint.reply.shape !== 'paged') return;
  const { cursor, limit: _, ...filters } = context.query;
  // A page may change its size on the way, nothing else.
  context.filters = JSON.stringify([
    endpoint.operationId,
    callerOf(context).workspaceId,
    context.params,
    filters,
  ]);
  context.after = typeof cursor === 'string' ? dependencies.cursors.open(cursor, context.filters) : null;
};
