import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { Reply } from '#operations/endpoint/reply.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import type { Claim, StoredReply } from '../idempotency/idempotency-store.ts';
import type { Allowance } from '#operations/dependencies/rate-limiter.ts';

/** One request on its way through the pipeline; each step fills in what the later ones need. */
export type RequestContext = {
  readonly endpoint: Endpoint;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly requestId: string;
  /** Milliseconds of the wall clock. */
  readonly now: number;
  caller: Caller | undefined;
  allowance: Allowance | undefined;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
  /** Names the parameters that a cursor belongs to. */
  filters: string;
  after: readonly (string | number)[] | null;
  claim: Claim | undefined;
  commandId: string;
  answer: Reply | undefined;
  /** Of an answer given before to the same idempotency key. */
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
  answer: undefined,
  replayed: undefined,
});

/** The caller of an exchange that has passed `checkKey`. */
export const callerOf = (context: RequestContext): Caller => {
  if (!context.caller) throw new Error('the key is checked before anything asks who calls');
  return context.caller;
};
