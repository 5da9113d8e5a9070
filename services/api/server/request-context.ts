import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { Reply } from '#operations/endpoint/reply.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import type { Claim, StoredReply } from '../idempotency.ts';
import type { Allowance } from '#application/access/request-counts.ts';

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
