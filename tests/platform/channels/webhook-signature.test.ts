import { execFileSync } from 'node:child_process';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { signatureHeaders, webhookKeysOf } from '#platform/channels/webhook.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ID = '5f0e5d9a-2f0d-4b11-8a58-6f0c1c4e3b7a';
const body = Buffer.from('{"title":"Größe 40 – 20 % günstiger","n":1}', 'utf8');

const headersAt = (at: Date): Readonly<Record<string, string>> => {
  const flat = signatureHeaders(ID, at, body, webhookKeysOf(SECRET));
  return Object.fromEntries(
    Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n] ?? '', flat[2 * n + 1] ?? '']),
  );
};

test('signs timestamp, dot and body with the secret as text, verified with openssl', () => {
  const headers = headersAt(new Date('2026-11-21T08:00:00.900Z'));
  expect(headers['x-service-timestamp']).toBe('1795248000');
  const signed = Buffer.concat([Buffer.from(`${headers['x-service-timestamp']}.`), body]);
  const made = execFileSync('openssl', ['dgst', '-sha256', '-hmac', SECRET, '-hex'], { input: signed });
  expect(headers['x-service-signature']).toBe(`v1=${made.toString().trim().split('= ').at(-1)}`);
});

test('produces headers that Standard Webhooks verifies, and that fail after any change', () => {
  const headers = headersAt(new Date());
  const webhook = new Webhook(SECRET);
  expect(webhook.verify(body, { ...headers })).toEqual(JSON.parse(body.toString()));
  expect(() => webhook.verify(Buffer.concat([body, Buffer.from(' ')]), { ...headers })).toThrow(/signature/);
  expect(() => webhook.verify(body, { ...headers, 'webhook-id': 'another' })).toThrow(/signature/);
  expect(() => new Webhook('whsec_b3RoZXI=').verify(body, { ...headers })).toThrow(/signature/);
});

test('rejects a secret in another format', () => {
  expect(() => webhookKeysOf('secret')).toThrow(/whsec_/);
});
