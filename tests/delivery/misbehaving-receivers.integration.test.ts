import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancelDeliveries } from '#application/delivery-outbox/cancel.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import type { Worker } from '#services/delivery/worker.ts';
import {
  answers,
  answersLarge,
  answersNoHttp,
  type Behaviour,
  closes,
  dripsBody,
  dripsHead,
  hangs,
  openTlsReceivers,
} from './receivers.ts';
import { newDelivery } from './new-delivery.ts';
import { openWebhookStack, type WebhookStack } from './webhook-stack.ts';

let stack: WebhookStack;
beforeAll(async () => {
  stack = await openWebhookStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

describe('a misbehaving receiver', () => {
  const TEN_MB = 10_000_000;
  const REDIRECT = { location: 'http://127.0.0.1/elsewhere' };
  type Case = readonly [string, Behaviour, Readonly<Record<string, unknown>>];
  const cases: readonly Case[] = [
    ['redirects', answers(302, REDIRECT), { failure: 'http', status_code: 302, outcome: 'retrying' }],
    [
      'redirects for good',
      answers(308, REDIRECT),
      { failure: 'http', status_code: 308, outcome: 'retrying' },
    ],
    ['is gone', answers(410), { failure: 'http', status_code: 410, outcome: 'failed' }],
    ['closes', closes, { failure: 'connection', status_code: null, outcome: 'retrying' }],
    ['speaks no HTTP', answersNoHttp, { failure: 'http', status_code: null, outcome: 'retrying' }],
    ['answers 10 MB', answersLarge(200, TEN_MB), { failure: null, status_code: 200, outcome: 'delivered' }],
    [
      'fails with 10 MB',
      answersLarge(500, TEN_MB),
      { failure: 'http', status_code: 500, outcome: 'retrying' },
    ],
    ['drips its answer', dripsBody(200), { failure: null, status_code: 200, outcome: 'delivered' }],
    ['drips a refusal', dripsBody(400), { failure: 'http', status_code: 400, outcome: 'retrying' }],
    ['hangs', hangs, { failure: 'timeout', status_code: null, outcome: 'retrying' }],
    ['drips its head', dripsHead, { failure: 'timeout', status_code: null, outcome: 'retrying' }],
  ];

  test('costs one attempt with the right failure class, cut off at the limits', async () => {
    const queued = [];
    for (const [name, behaviour, expected] of cases) {
      const path = `/${name.replaceAll(' ', '-')}`;
      queued.push({ name, path, expected, ...(await stack.queueTo(path, behaviour)) });
    }
    const nobody = newDelivery(
      stack.rule(),
      { channel: 'webhook', url: 'http://127.0.0.1:9/nobody' },
      stack.clock.now(),
    );
    const inside = newDelivery(
      stack.rule(),
      { channel: 'webhook', url: 'https://169.254.169.254/latest' },
      stack.clock.now(),
    );
    await stack.enqueue(nobody, inside);
    await stack.sendDue(stack.sender);
    for (const { name, path, id, expected } of queued) {
      const attempts = await stack.attempts(id);
      expect(attempts, name).toEqual([expect.objectContaining(expected)]);
      expect((attempts[0]?.['answer'] as Buffer | null)?.length ?? 0, name).toBeLessThanOrEqual(16 * 1_024);
      expect(stack.receivers.at(path), name).toHaveLength(1);
    }
    const [large] = await stack.attempts(queued.find(({ name }) => name === 'answers 10 MB')?.id ?? '');
    expect(large?.['answer']).toHaveLength(16 * 1_024);
    // The following tests must not wait for retries.
    const ids = [nobody.deliveryId, ...queued.map(({ id }) => id)];
    await inTransaction(stack.pool, (client) => cancelDeliveries(client, ids, 'Enough.', stack.clock.now()));
    expect(await stack.attempts(nobody.deliveryId)).toMatchObject([
      { failure: 'connection', outcome: 'retrying' },
    ]);
    expect(await stack.attempts(inside.deliveryId)).toMatchObject([
      { failure: 'blocked_target', outcome: 'failed' },
    ]);
  });

  test('fails the TLS check with an untrusted certificate or one for another name', async () => {
    await using tls = await openTlsReceivers('hooks.shop.example');
    const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }];
    const untrusting = stack.worker({ egress: { resolve } });
    const trusting = stack.worker({ egress: { resolve, ca: tls.ca } });
    const to = async (host: string, by: Worker) => {
      const url = `https://${host}:${tls.port}/tls`;
      const delivery = newDelivery(stack.rule(), { channel: 'webhook', url }, stack.clock.now());
      await stack.enqueue(delivery);
      await stack.sendDue(by);
      return (await stack.attempts(delivery.deliveryId))[0];
    };
    expect(await to('hooks.shop.example', untrusting)).toMatchObject({ failure: 'tls', status_code: null });
    expect(await to('other.shop.example', trusting)).toMatchObject({ failure: 'tls', status_code: null });
    expect(tls.received).toEqual([]);
    // TLS verifies the name although the connection goes to an address.
    const arrived = await to('hooks.shop.example', trusting);
    expect(arrived).toMatchObject({ outcome: 'delivered', status_code: 204 });
    expect(arrived?.['dns_ms']).toBeGreaterThanOrEqual(0);
    expect(arrived?.['tls_ms']).toBeGreaterThan(0);
    const unknown = stack.worker({
      egress: { resolve: () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' })) },
    });
    expect(await to('nowhere.shop.example', unknown)).toMatchObject({ failure: 'dns', status_code: null });
  });
});
