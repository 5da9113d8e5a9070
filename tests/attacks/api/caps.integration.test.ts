import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect } from 'vitest';
import { createBrowsers } from '#application/sign-in/browsers.ts';
import { createBrowserSignInTables } from '#application/sign-in/tables.ts';
import { Refusal } from '#contracts/errors.ts';
import { TEST_SENDS_PER_MINUTE } from '#contracts/resources/workspace/alert.ts';
import { BROWSERS_MAX } from '#domain/workspace/sign-in.ts';
import {
  alertsThrough,
  openLoopbackChannels,
  openReceiver,
  type Receiver,
  ruleOn,
} from '../../operations/fixtures/alerting.ts';
import type { CorpusBrand } from '../../operations/fixtures/corpus.ts';
import { type ApiStack, openApiStack } from '../../operations/fixtures/stack.ts';
import { attack } from '../attack.ts';

/** Attacks on caps that no decider keeps. The minute stands still, so that no attack runs over its end. */
const clock = { now: () => new Date('2026-11-20T12:00:30.000Z') };

let stack: ApiStack;
let app: FastifyInstance;
let receiver: Receiver;
let brands: readonly CorpusBrand[];
beforeAll(async () => {
  stack = await openApiStack();
  receiver = await openReceiver();
  [app, brands] = await Promise.all([
    stack.api({ alertChannels: openLoopbackChannels(), clock }),
    stack.seed(['alpha']),
  ]);
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

attack('refused test sends reach no receiver, over all rules of a workspace', async () => {
  const alerts = alertsThrough(app);
  const key = await stack.key();
  await alerts.track(key, brands);
  const rules: string[] = [];
  for (const path of ['one', 'two']) {
    const rule = ruleOn(brands, { email: false, webhook_url: `${receiver.url}/${path}` });
    rules.push((await alerts.created(key, rule)).id);
  }
  const statuses: number[] = [];
  for (let sent = 0; sent < 2 * TEST_SENDS_PER_MINUTE; sent += 1)
    statuses.push((await alerts.test(key, rules[sent % 2] ?? '')).status);
  const counts = [200, 409].map((status) => statuses.filter((one) => one === status).length);
  expect(counts).toEqual([TEST_SENDS_PER_MINUTE, TEST_SENDS_PER_MINUTE]);
  expect(receiver.received).toHaveLength(TEST_SENDS_PER_MINUTE);
  return `${counts[0]} sent, ${counts[1]} refused, ${receiver.received.length} received`;
});

attack('a member signs in in as many browsers as the cap allows, and others are not concerned', async () => {
  await createBrowserSignInTables(stack.pool);
  const browsers = createBrowsers(stack.pool);
  const [account, other] = [randomUUID(), randomUUID()];
  let signedIn = 0;
  let refusal: unknown;
  for (let count = 0; count <= BROWSERS_MAX && refusal === undefined; count += 1) {
    try {
      await browsers.open(account, 'code');
      signedIn += 1;
    } catch (error) {
      refusal = error;
    }
  }
  expect(signedIn).toBe(BROWSERS_MAX);
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal).toMatchObject({
    code: 'limit_reached',
    message: expect.stringContaining(String(BROWSERS_MAX)) as string,
  });
  expect(await browsers.open(other, 'code')).toMatch(/^[\w-]{40,}$/);
  return `${signedIn} browsers, then 409`;
});
