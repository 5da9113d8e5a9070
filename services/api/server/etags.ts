import { hash } from 'node:crypto';
import type { Reply } from '#operations/endpoint/reply.ts';

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
