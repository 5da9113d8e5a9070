import type { FastifyRequest } from 'fastify';

export const PRIVATE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

/** Clients share code with those of the API, so the envelope is equal. `lag_hours` is 0: the data is current. */
const metaOf = (request: FastifyRequest) => ({
  request_id: request.id,
  as_of: new Date().toISOString(),
  lag_hours: 0,
});

export const record = <T>(request: FastifyRequest, data: T) => ({ data, meta: metaOf(request) });

/** `cursor` requests the next page; `null` on the last. */
export const page = <T>(request: FastifyRequest, data: readonly T[], cursor: string | null = null) => ({
  data,
  meta: { ...metaOf(request), ...(cursor === null ? {} : { cursor }), count: data.length },
});
