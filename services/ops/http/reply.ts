import type { FastifyRequest } from 'fastify';

/** Of what is for operators alone: no cache keeps it, and no browser takes it for a page. */
export const PRIVATE_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

/** The envelopes of the API, so that who reads one reads the other. Operators see what is, so nothing lags. */
const metaOf = (request: FastifyRequest) => ({
  request_id: request.id,
  as_of: new Date().toISOString(),
  lag_hours: 0,
});

export const record = <T>(request: FastifyRequest, data: T) => ({ data, meta: metaOf(request) });

/** `cursor`: what the next page is asked for with; `null` on the last. */
export const page = <T>(request: FastifyRequest, data: readonly T[], cursor: string | null = null) => ({
  data,
  meta: { ...metaOf(request), ...(cursor === null ? {} : { cursor }), count: data.length },
});
