import { createHmac, timingSafeEqual } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';

/** Bounds how long a copied request is accepted. */
const AGE_MAX_MS = 5 * MINUTE_MS;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Returns the fault as a sentence; `null` for a genuine request (specification, "Events" 3). `body`: bytes as received.
 * `secret`: with `whsec_`.
 */
export const faultOfSignature = (
  headers: Headers,
  body: Uint8Array,
  secret: string,
  nowMs: number,
): string | null => {
  const timestamp = headers['x-service-timestamp'];
  const signature = headers['x-service-signature'];
  if (typeof timestamp !== 'string' || typeof signature !== 'string') return 'It has no signature.';
  if (!/^\d{1,12}$/.test(timestamp)) return 'Its time is not a number of seconds.';
  if (Math.abs(nowMs - Number(timestamp) * SECOND_MS) > AGE_MAX_MS)
    return 'Its time is over five minutes off.';
  const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  const expected = Buffer.from(`v1=${digest}`);
  const received = Buffer.from(signature);
  const isEqual = expected.length === received.length && timingSafeEqual(expected, received);
  return isEqual ? null : 'Its signature was not made with the secret of the demo workspace.';
};
