import type { FastifyRequest } from 'fastify';

/** Headers of replies for operators: not cacheable, and browsers must not guess another content type. */
export const PRIVATE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

/** The same envelope as the API's, so that clients share code. `lag_hours` is 0: operators read current data. */
const metaOf = (request: FastifyRequest) => ({
  request_id: request.id,
  as_of: new Date().toISOString(),
  lag_hours: 0,
});

export const record = <T>(request: FastifyRequest, data: T) => ({ data, meta: metaOf(request) });

/** Envelope of a result page. `cursor` requests the next page; `null` on the last. */
export const page = <T>(request: FastifyRequest, data: readonly T[], cursor: string | null = null) => ({
  data,
  meta: { ...metaOf(request), ...(cursor === null ? {} : { cursor }), count: data.length },
});
