import type { FastifyRequest } from 'fastify';
import type { ErrorDetail } from '#contracts/errors.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { openPageCursor } from '#operations/endpoint/page-cursor.ts';
import {
  BODY_MISSING,
  BODY_NOT_ALLOWED,
  bodyFault,
  type ReadBody,
  validateEndpointInput,
} from '#operations/endpoint/validate-input.ts';
import { findInvalidUtf8 } from '#platform/http/utf8.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';

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

const readBody = (endpoint: Endpoint, request: FastifyRequest): ReadBody => {
  if (!endpoint.body) return hasBody(request) ? BODY_NOT_ALLOWED : { value: undefined };
  const text = request.body;
  if (typeof text !== 'string' || text === '') return BODY_MISSING;
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    return bodyFault('Send the body with `content-type: application/json`.', 'content_type');
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
