import { createHmac, createSecretKey, hash } from 'node:crypto';
import type { Reply } from '#operations/endpoint/reply.ts';

/** Bytes of an ETag. */
const ETAG_BYTES = 16;

/** Makes ETags that hold in one workspace only. */
export type Etags = {
  /** Returns the weak ETag of a result for a workspace: equal results are sent with different request ids and lags. */
  etagOf(result: Reply, workspaceId: string): string;
};

/** Hashes of results in use. A result that is shared by several requests is hashed once. */
const contents = new WeakMap<Reply, string>();

const contentOf = (result: Reply): string => {
  const cached = contents.get(result);
  if (cached !== undefined) return cached;
  const { asOf, next, freshness = '', data } = result;
  const content = hash('sha1', `${asOf}${next ? 1 : 0}${freshness}${data}`, 'base64url');
  contents.set(result, content);
  return content;
};

/**
 * Creates the ETags of an installation. An ETag is signed for the workspace: one that matches was sent to that workspace
 * before, so a 304 cannot be had for an ETag that was computed or came from elsewhere.
 */
export const createEtags = (secret: string): Etags => {
  const key = createSecretKey(Buffer.from(`etags of ${secret}`, 'utf8'));
  return {
    etagOf: (result, workspaceId) => {
      const signed = createHmac('sha256', key)
        .update(`${workspaceId} ${contentOf(result)}`)
        .digest();
      return `W/"${signed.subarray(0, ETAG_BYTES).toString('base64url')}"`;
    },
  };
};

/** Tells how `if-none-match` matches an ETag, by weak comparison (RFC 9110, section 13.1.2). `any`: by a star. */
export const matchEtag = (header: string | undefined, etag: string): 'etag' | 'any' | 'none' => {
  if (header === undefined) return 'none';
  if (header.trim() === '*') return 'any';
  return header.split(',').some((one) => `W/${one.trim().replace(/^W\//, '')}` === etag) ? 'etag' : 'none';
};
