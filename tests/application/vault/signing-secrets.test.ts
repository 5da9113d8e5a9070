import { describe, expect, test } from 'vitest';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import {
  createWebhookSecret,
  openSigningSecrets,
  ROTATION_WAIT_MS,
} from '#application/vault/signing-secrets.ts';

/** A log that names one fingerprint, a vault, and a clock, all in the hands of the test. */
const setup = () => {
  let now = 1_000;
  let named: string | null = null;
  let takesMs = 0;
  let fails = false;
  const kept = new Map<string, string>();
  const asked: string[] = [];
  const last = (): Promise<unknown> => {
    asked.push('log');
    now += takesMs;
    if (fails) return Promise.reject(new Error('no event store'));
    return Promise.resolve(named === null ? null : { data: { fingerprint: named } });
  };
  const open = (_workspace: string, _owner: string, fingerprint: string): Promise<string | null> => {
    asked.push('vault');
    return Promise.resolve(kept.get(fingerprint) ?? null);
  };
  const signing = openSigningSecrets(
    { last } as unknown as EventStore,
    { open } as unknown as SecretVault,
    () => now,
  );
  return {
    asked,
    kept,
    current: () => signing.current('ws_1'),
    issue: (fingerprint: string) => {
      named = fingerprint;
      kept.set(fingerprint, `secret ${fingerprint}`);
    },
    pass: (ms: number) => (now += ms),
    takes: (ms: number) => (takesMs = ms),
    fail: (does: boolean) => (fails = does),
  };
};

describe('the secret that signs', () => {
  test('is looked up once and then known for a while', async () => {
    const { asked, current, issue } = setup();
    issue('one');
    expect(await Promise.all([current(), current()])).toEqual(['secret one', 'secret one']);
    expect(await current()).toBe('secret one');
    expect(asked).toEqual(['log', 'vault']);
  });

  test('is believed for less than the time a rotation waits', async () => {
    const { asked, current, issue, pass } = setup();
    issue('one');
    await current();
    issue('two');
    pass(ROTATION_WAIT_MS);
    expect(await current()).toBe('secret two');
    pass(ROTATION_WAIT_MS);
    await current();
    // What a fingerprint stands for never changes.
    expect(asked).toEqual(['log', 'vault', 'log', 'vault', 'log']);
  });

  test('is asked for again when it took too long to find out', async () => {
    const { current, issue, takes } = setup();
    issue('one');
    takes(ROTATION_WAIT_MS);
    await expect(current()).rejects.toThrow('too long');
    takes(0);
    expect(await current()).toBe('secret one');
  });

  test('may come at any time where there was none', async () => {
    const { current, issue } = setup();
    expect(await current()).toBeNull();
    issue('one');
    expect(await current()).toBe('secret one');
  });

  test('is asked for again after a failure', async () => {
    const { current, issue, fail } = setup();
    issue('one');
    fail(true);
    await expect(current()).rejects.toThrow('no event store');
    fail(false);
    expect(await current()).toBe('secret one');
  });

  test('that the vault does not hold is a fault, and no reason to sign with another', async () => {
    const { current, issue, kept } = setup();
    issue('one');
    kept.clear();
    await expect(current()).rejects.toThrow('vault');
  });
});

test('a new secret has 32 bytes, in the form of Standard Webhooks', () => {
  const secrets = Array.from({ length: 100 }, createWebhookSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  }
});
