import { createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { verify } from 'web-bot-auth';
import { verifierFromJWK } from 'web-bot-auth/crypto';
import { afterAll, expect, test } from 'vitest';
import { openEgress } from '#platform/egress/http-client.ts';
import { KEY_DIRECTORY_PATH, readBotKey } from '#platform/http-client/bot-key.ts';
import { createPoliteClient } from '#platform/http-client/polite-client.ts';
import { registerKeyDirectory } from '#services/api/server/server.ts';
import { createTestHosts, openPlayedSites } from './played-sites.ts';

const folder = mkdtempSync(join(tmpdir(), 'bot-key-'));
const file = join(folder, 'key.pem');
const { privateKey } = generateKeyPairSync('ed25519');
writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
const publicKey = createPublicKey(privateKey).export({ format: 'jwk' });
afterAll(() => rmSync(folder, { recursive: true }));

const AGENT = 'https://api.operator.example/base';
const clock = { now: () => new Date() };

test('every request of the polite client is signed, and a signature is of one host only', async () => {
  await using played = await openPlayedSites();
  await using egress = openEgress({ allowLoopback: true });
  const seen: { readonly url: string; readonly headers: Record<string, string> }[] = [];
  played.sites.set('shop.example', (path, { headers }) => {
    seen.push({ url: `https://shop.example${path}`, headers: headers as Record<string, string> });
    return path === '/robots.txt' ? { status: 404 } : { body: 'ok' };
  });
  const botKey = await readBotKey(file, AGENT);
  const client = createPoliteClient({
    egress,
    via: played.origin,
    hosts: createTestHosts(),
    clock,
    userAgent: 'test (+https://operator.example)',
    paceMs: 0,
    botKey,
  });
  const { signal } = new AbortController();
  expect(await client.get('https://shop.example/page', { signal })).toMatchObject({ kind: 'answered' });
  expect(seen.map(({ url }) => url)).toEqual([
    'https://shop.example/robots.txt',
    'https://shop.example/page',
  ]);
  const verifier = await verifierFromJWK(publicKey);
  for (const { url, headers } of seen) {
    expect(headers['signature-agent']).toBe('"https://api.operator.example"');
    expect(headers['signature-input']).toMatch(
      /^sig1=\("@authority" "signature-agent"\);.*tag="web-bot-auth"/,
    );
    await verify({ method: 'GET', url, headers }, verifier);
    await expect(
      verify({ method: 'GET', url: 'https://other.example/', headers }, verifier),
    ).rejects.toBeInstanceOf(Error);
  }
});

test('the API serves the key directory with a signature, and no directory without a key', async () => {
  const app = Fastify();
  registerKeyDirectory(app, await readBotKey(file, AGENT), clock);
  const answer = await app.inject({ url: KEY_DIRECTORY_PATH, headers: { host: 'api.operator.example' } });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('application/http-message-signatures-directory+json');
  expect(answer.headers['signature-input']).toContain('tag="http-message-signatures-directory"');
  const { keys } = answer.json() as { keys: JsonWebKey[] };
  expect(keys).toMatchObject([{ kty: 'OKP', crv: 'Ed25519', x: publicKey.x, use: 'sig' }]);
  expect(answer.body).not.toContain('"d"');
  await app.close();
  const without = Fastify();
  registerKeyDirectory(without, null, clock);
  expect((await without.inject({ url: KEY_DIRECTORY_PATH })).statusCode).toBe(404);
  await without.close();
});

test('a key of another kind, a missing file, and an agent without https are refused', async () => {
  const other = join(folder, 'rsa.pem');
  const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  writeFileSync(other, ecKey.export({ type: 'pkcs8', format: 'pem' }));
  await expect(readBotKey(other, AGENT)).rejects.toThrow(/not an Ed25519 key/);
  await expect(readBotKey(join(folder, 'none.pem'), AGENT)).rejects.toThrow(/not a readable private key/);
  await expect(readBotKey(file, undefined)).rejects.toThrow(/API_BASE_URL/);
  await expect(readBotKey(file, 'http://127.0.0.1:8080')).rejects.toThrow(/https/);
});
