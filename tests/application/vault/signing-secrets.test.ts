import { describe, expect, test } from 'vitest';
import { EventStoreSilent } from '#platform/event-store/errors.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { SecretVault } from '#application/vault/secret-vault.ts';
import {
  createWebhookSecret,
  openSigningSecrets,
  ROTATION_WAIT_MS,
} from '#application/vault/signing-secrets.ts';

const setup = () => {
  let now = 1_000;
  let currentFingerprint: string | null = null;
  let delayMs = 0;
  let failure: Error | null = null;
  const secrets = new Map<string, string>();
  const reads: string[] = [];
  const last = (): Promise<unknown> => {
    reads.push('log');
    now += delayMs;
    if (failure !== null) return Promise.reject(failure);
    return Promise.resolve(
      currentFingerprint === null ? null : { data: { fingerprint: currentFingerprint } },
    );
  };
  const open = (_workspace: string, _owner: string, fingerprint: string): Promise<string | null> => {
    reads.push('vault');
    return Promise.resolve(secrets.get(fingerprint) ?? null);
  };
  const openOnly = (): Promise<string | null> => {
    reads.push('vault');
    return Promise.resolve(secrets.size === 1 ? ([...secrets.values()][0] ?? null) : null);
  };
  const signing = openSigningSecrets(
    { last } as unknown as EventStore,
    { open, openOnly } as unknown as SecretVault,
    () => now,
  );
  return {
    reads,
    secrets,
    current: () => signing.current('ws_1'),
    issue: (fingerprint: string) => {
      currentFingerprint = fingerprint;
      secrets.set(fingerprint, `secret ${fingerprint}`);
    },
    pass: (ms: number) => (now += ms),
    delayReads: (ms: number) => (delayMs = ms),
    failReads: (error: Error | null) => (failure = error),
  };
};

describe('the signing secret', () => {
  test('is read once and then cached for the lease', async () => {
    const { reads, current, issue } = setup();
    issue('one');
    expect(await Promise.all([current(), current()])).toEqual(['secret one', 'secret one']);
    expect(await current()).toBe('secret one');
    expect(reads).toEqual(['log', 'vault']);
  });

  test('expires from the cache within the time that a rotation waits', async () => {
    const { reads, current, issue, pass } = setup();
    issue('one');
    await current();
    issue('two');
    pass(ROTATION_WAIT_MS);
    expect(await current()).toBe('secret two');
    pass(ROTATION_WAIT_MS);
    await current();
    // The secret of a fingerprint never changes, so its vault is read once.
    expect(reads).toEqual(['log', 'vault', 'log', 'vault', 'log']);
  });

  test('is not used when reading it took longer than the lease', async () => {
    const { current, issue, delayReads } = setup();
    issue('one');
    delayReads(ROTATION_WAIT_MS);
    await expect(current()).rejects.toThrow('too long');
    delayReads(0);
    expect(await current()).toBe('secret one');
  });

  test('is found immediately after the first one was issued', async () => {
    const { current, issue } = setup();
    expect(await current()).toBeNull();
    issue('one');
    expect(await current()).toBe('secret one');
  });

  test('is read again after a failure', async () => {
    const { current, issue, failReads } = setup();
    issue('one');
    failReads(new Error('refused'));
    await expect(current()).rejects.toThrow('refused');
    failReads(null);
    expect(await current()).toBe('secret one');
  });

  test('is the only one in the vault while the log does not answer, which is asked once', async () => {
    const { reads, current, issue, pass, failReads } = setup();
    issue('one');
    failReads(new EventStoreSilent(1));
    expect(await current()).toBe('secret one');
    pass(ROTATION_WAIT_MS);
    expect(await current()).toBe('secret one');
    expect(reads).toEqual(['log', 'vault', 'vault']);
  });

  test('causes an error when the vault holds several or none while the log does not answer', async () => {
    const { current, issue, secrets, failReads } = setup();
    issue('one');
    issue('two');
    failReads(new EventStoreSilent(1));
    await expect(current()).rejects.toThrow('exactly one');
    secrets.delete('one');
    expect(await current()).toBe('secret two');
    secrets.clear();
    expect(await current()).toBe('secret two');
  });

  test('causes an error when the vault does not hold it', async () => {
    const { current, issue, secrets } = setup();
    issue('one');
    secrets.clear();
    await expect(current()).rejects.toThrow('vault');
  });
});

test('creates secrets of 32 bytes in the format of Standard Webhooks', () => {
  const secrets = Array.from({ length: 100 }, createWebhookSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  }
});
