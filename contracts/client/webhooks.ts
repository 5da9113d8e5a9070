import type { webhooks } from './openapi-types.ts';

/** Verifies deliveries of alert rules with WebCrypto (specification, "Events" 3; `contracts/guide/webhooks.md`). */

export type WebhookPayload = webhooks['alert']['content']['application/json'];

/** Headers of `fetch`, or of a Node request, whose names are in lower case. */
type ReceivedHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type ReceivedWebhook = {
  readonly headers: ReceivedHeaders;
  /** Bytes as they came, before they are decoded or parsed. */
  readonly body: Uint8Array;
};

/** Bounds how long a copied request is accepted. */
const AGE_MAX_SECONDS = 300;

/** The message names the fault. Answer 401 or 400, not 2xx. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused';
}

const headerOf = (headers: ReceivedHeaders, name: string): string => {
  const value =
    typeof headers['get'] === 'function' ? headers.get(name) : (headers as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : '';
};

/** Rejects with `WebhookRefused`. `secret`: as it was shown, `whsec_` included. `nowMs`: for tests. */
export const verifyWebhook = async (
  { headers, body }: ReceivedWebhook,
  secret: string,
  nowMs: number = Date.now(),
): Promise<void> => {
  const timestamp = headerOf(headers, 'x-service-timestamp');
  const signature = /^v1=([0-9a-f]{64})$/.exec(headerOf(headers, 'x-service-signature'))?.[1];
  if (!/^[1-9][0-9]{9}$/.test(timestamp))
    throw new WebhookRefused('The request has no timestamp in seconds.');
  if (signature === undefined) throw new WebhookRefused('The request has no signature.');
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) >= AGE_MAX_SECONDS)
    throw new WebhookRefused('The timestamp is five minutes or more off.');
  const text = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', text.encode(secret), algorithm, false, ['verify']);
  const beginning = text.encode(`${timestamp}.`);
  const signed = new Uint8Array(beginning.length + body.length);
  signed.set(beginning);
  signed.set(body, beginning.length);
  const bytes = Uint8Array.from(signature.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  // Compares in constant time.
  if (!(await crypto.subtle.verify('HMAC', key, bytes, signed)))
    throw new WebhookRefused('The signature was not made with this secret.');
};

/** Verifies a request and resolves to its payload. Rejects as `verifyWebhook` does. */
export const readWebhook = async (received: ReceivedWebhook, secret: string): Promise<WebhookPayload> => {
  await verifyWebhook(received, secret);
  return JSON.parse(new TextDecoder().decode(received.body)) as WebhookPayload;
};
