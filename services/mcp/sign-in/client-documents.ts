import type { Egress } from '#platform/egress/http-client.ts';
import { loadUndici } from '#platform/egress/undici.ts';
import { prepareMetadata } from '#application/sign-in/clients.ts';

export const DOCUMENT_MAX_BYTES = 5 * 1024;
export const KEYS_MAX_BYTES = 64 * 1024;

export type FetchForClient = (url: string | URL, options?: RequestInit) => Promise<Response>;

const readAtMost = async (body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<string> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > maxBytes) throw new Error(`the document has more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Fetches client URLs through the egress guard, without redirects. Prepares documents; limits the size of the rest. */
export const createFetchForClient =
  (egress: Pick<Egress, 'targetOf' | 'dispatcher'>): FetchForClient =>
  async (address, options = {}) => {
    const url = String(address);
    const target = egress.targetOf(url);
    if ('fault' in target) throw new Error(target.fault);
    const { headers, signal } = options;
    const response = await loadUndici().fetch(url, {
      headers: Object.fromEntries(new Headers(headers)),
      redirect: 'manual',
      dispatcher: egress.dispatcher,
      ...(signal ? { signal } : {}),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return new Response(null, { status: response.status });
    }
    const text = await readAtMost(response.body, KEYS_MAX_BYTES);
    const document = parseJson(text);
    const cacheControl = response.headers.get('cache-control');
    const kept = cacheControl === null ? {} : { 'cache-control': cacheControl };
    if (document === null || typeof document !== 'object' || !('redirect_uris' in document)) {
      return new Response(text, { headers: kept });
    }
    if (Buffer.byteLength(text) > DOCUMENT_MAX_BYTES) {
      throw new Error(`the document has more than ${DOCUMENT_MAX_BYTES} bytes`);
    }
    const prepared = prepareMetadata(document);
    if ('fault' in prepared) throw new Error(prepared.fault);
    // A public document with a shared secret is invalid: the provider must see it to reject it.
    const secret = 'client_secret' in document ? { client_secret: String(document.client_secret) } : {};
    return new Response(JSON.stringify({ ...prepared.metadata, ...secret }), { headers: kept });
  };
