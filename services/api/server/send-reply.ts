import { lagHours, type Reply } from '#operations/endpoint/reply.ts';
import { signNextCursor } from '#operations/endpoint/page-cursor.ts';
import { callerOf, type RequestContext } from './request-context.ts';
import { type Allowance, rateHeaders } from '#application/access/allowance.ts';
import { type Headers, send } from '#platform/http/send-json.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { matchEtag } from './etags.ts';

/** Returns the body of a successful reply. It is concatenated, because `data` is already JSON text. */
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

/**
 * Returns the allowance after a 304. One for an ETag that the workspace got is free, as many times a minute as its plan
 * allows requests; further ones, and those for a star, count as any request.
 */
const allowanceOfMatch = async (
  context: RequestContext,
  match: 'etag' | 'any',
  { rateLimiter, requestsPerMinute }: ApiDependencies,
): Promise<Allowance | undefined> => {
  const { workspaceId, plan } = callerOf(context);
  const limit = requestsPerMinute(plan);
  const isFree = match === 'etag' && (await rateLimiter.take(`304 ${workspaceId}`, limit)).allowed;
  return isFree ? rateLimiter.giveBack(workspaceId, limit) : context.allowance;
};

/** Sends the result: 304 when the ETag matches, otherwise the envelope with its headers. */
export const sendReply = (context: RequestContext, dependencies: ApiDependencies): void | Promise<void> => {
  const { result, endpoint, request } = context;
  if (!result) throw new Error('no result to send: runHandler must run first');
  const headers: Headers = { 'x-request-id': context.requestId };
  if (endpoint.corpus) {
    const etag = dependencies.etags.etagOf(result, callerOf(context).workspaceId);
    headers['etag'] = etag;
    headers['cache-control'] = 'private, no-cache';
    const match = matchEtag(request.headers['if-none-match'], etag);
    if (match !== 'none') {
      return allowanceOfMatch(context, match, dependencies).then((allowance) =>
        send(context.reply, 304, Object.assign(headers, allowance && rateHeaders(allowance)), ''),
      );
    }
  }
  if (context.allowance) Object.assign(headers, rateHeaders(context.allowance));
  if (result.position !== undefined && result.position !== null) {
    headers['x-read-position'] = result.position.toString();
  }
  if (context.replayed) headers['idempotency-replayed'] = 'true';
  const cursor = signNextCursor(context.filters, result, dependencies.cursors);
  // The lag of a read counts from the arrival of the request; that of a write, from now.
  const now = endpoint.method === 'GET' ? context.now : dependencies.clock.now().getTime();
  const body = envelope(context.requestId, now, result, cursor);
  send(context.reply, context.replayed?.status ?? endpoint.reply.status, headers, body);
};
