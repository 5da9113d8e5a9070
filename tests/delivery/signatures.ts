import { execFileSync } from 'node:child_process';
import { Webhook } from 'standardwebhooks';
import { expect, vi } from 'vitest';
import type { Received } from './receivers.ts';

/**
 * Verifies with code that is not ours: the package of Standard Webhooks, and openssl. The signing time must be close
 * to now.
 */
export const verifySignatures = ({ headers, body }: Received, secret: string): void => {
  const signedAt = Number(headers['webhook-timestamp']) * 1_000;
  vi.useFakeTimers({ toFake: ['Date'], now: signedAt });
  try {
    expect(new Webhook(secret).verify(body, { ...headers })).toEqual(JSON.parse(body.toString('utf8')));
  } finally {
    vi.useRealTimers();
  }
  const signed = Buffer.concat([Buffer.from(`${headers['x-service-timestamp']}.`, 'utf8'), body]);
  const made = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-hex'], { input: signed });
  expect(headers['x-service-signature']).toBe(`v1=${made.toString().trim().split('= ').at(-1)}`);
};
