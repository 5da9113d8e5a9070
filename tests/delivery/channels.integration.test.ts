import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHAT_TOOLS } from '#contracts/values/chat-tools.ts';
import { UNKNOWN_CHAT_TOOL, chatMessageOf } from '#platform/channels/chat.ts';
import { emailMessageOf } from '#platform/channels/email.ts';
import { openMailServer } from '#tests/faults/background/mail-server.ts';
import { openReceivers, type Receivers } from './receivers.ts';
import { newDelivery } from './new-delivery.ts';
import { type DeliveryStack, openDeliveryStack } from './stack.ts';

let stack: DeliveryStack;
let receivers: Receivers;
beforeAll(async () => {
  [stack, receivers] = await Promise.all([openDeliveryStack(), openReceivers()]);
});
afterAll(async () => {
  // Receivers are disposed of first, which ends the requests that hang.
  await receivers[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const emailTo = (memberId: string) =>
  newDelivery(stack.rule(), { channel: 'email', member_id: memberId }, stack.clock.now());

describe('chat', () => {
  const chatTo = async (fingerprint: string, count: number) => {
    const target = { channel: 'chat', fingerprint } as const;
    const deliveries = Array.from({ length: count }, () =>
      newDelivery(stack.rule(), target, stack.clock.now()),
    );
    await stack.enqueue(...deliveries);
    return deliveries;
  };

  test('sends text and blocks in which ad content is escaped', async () => {
    stack.addresses.set('chat-of-body', `${receivers.url}/chat`);
    const [delivery] = await chatTo('chat-of-body', 1);
    await stack.sendDue(stack.worker());
    const [request] = receivers.at('/chat');
    const body = JSON.parse(request?.body.toString('utf8') ?? '');
    expect(body).toEqual(delivery && chatMessageOf(delivery.payload, 'slack'));
    expect(body).toMatchObject({
      text: 'Größe &amp; &lt;Preis&gt;: 1 observation',
      blocks: [{ type: 'header' }, { type: 'section' }, { type: 'context' }],
    });
    expect(body.blocks[1].text.text).toBe(
      '*Shop &lt;!channel&gt;*: <https://api.test/v1/ads/9000000000000001|Shop was observed running a new ad: “20 % off ¦ today &amp; tomorrow”>',
    );
    expect(request?.headers).not.toHaveProperty('x-service-signature');
  });

  test('sends one message a second to an address, across all workers', async () => {
    stack.addresses.set('chat-of-pace', `${receivers.url}/pace`);
    await chatTo('chat-of-pace', 3);
    const workers = [stack.worker(), stack.worker(), stack.worker()];
    for (const [index, worker] of workers.entries()) {
      for (const one of workers) await one.sweep();
      for (const one of workers) await one.idle();
      expect(receivers.at('/pace')).toHaveLength(index + 1);
      stack.clock.move(999);
      expect(await worker.sweep()).toBe(0);
      stack.clock.move(1);
    }
  });

  test('fails for good, with the supported tools as the reason, at an address of an older rule', async () => {
    stack.addresses.set('chat-of-other', 'https://chat.shop.example/incoming/secret');
    const [delivery] = await chatTo('chat-of-other', 1);
    await stack.sendDue(stack.worker());
    expect(await stack.attempts(delivery?.deliveryId ?? '')).toMatchObject([
      { outcome: 'failed', failure: 'blocked_target', reason: UNKNOWN_CHAT_TOOL },
    ]);
    expect(UNKNOWN_CHAT_TOOL).toContain('Discord (discord.com/api/webhooks/…)');
  });

  test('cancels deliveries when the address was removed', async () => {
    const [delivery] = await chatTo('chat-of-nobody', 1);
    await stack.sendDue(stack.worker());
    expect(await stack.row(delivery?.deliveryId ?? '')).toMatchObject({ status: 'cancelled', attempts: 0 });
  });
});

describe('e-mail', () => {
  test('writes one message file per delivery, readable by mail programs, when no mail server is configured', async () => {
    stack.emails.set('mem_ada', 'ada@shop.example');
    const delivery = emailTo('mem_ada');
    await stack.enqueue(delivery);
    await stack.sendDue(stack.worker());
    expect(await readdir(stack.mailFolder)).toEqual([`${delivery.deliveryId}.eml`]);
    const text = await readFile(join(stack.mailFolder, `${delivery.deliveryId}.eml`), 'utf8');
    expect(text).toContain('To: ada@shop.example');
    expect(text).toContain(`Message-ID: <${delivery.deliveryId}@shop.example>`);
    expect(text).toMatch(/Subject: =\?UTF-8\?/);
    expect(text).toContain('https://api.test/v1/ads/9000000000000001');
    expect(await stack.row(delivery.deliveryId)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  test('names the suspended channel in a notice, or the whole alert in a notice of the older format', () => {
    const { payload } = emailTo('mem_ada');
    const notice = { ...payload, type: 'alert.suspended' as const, kind: 'notice' as const, items: [] };
    const { subject, text } = emailMessageOf({ ...notice, suspended_channel: 'chat' });
    expect(subject).toBe('The alert “Größe & <Preis>” no longer sends to the chat tool');
    expect(text).toContain('Its other channels are not affected.');
    expect(emailMessageOf(notice).subject).toBe('The alert “Größe & <Preis>” was disabled');
  });

  test('says how many alerts a merged one replaces, with a link to all', () => {
    const { payload } = emailTo('mem_ada');
    const url = 'https://api.test/v1/workspaces/ws/alert-deliveries?alert_id=a&b';
    const merged = { ...payload, items_total: 40, merged: { alerts: 3, url } };
    expect(emailMessageOf(merged).text).toContain(`this one replaces 3. All of them: ${url}`);
    for (const tool of CHAT_TOOLS)
      expect(JSON.stringify(chatMessageOf(merged, tool)), tool).toContain(
        'this one replaces 3. All of them: https://api.test/',
      );
  });

  test('cancels a delivery to an erased member', async () => {
    const delivery = emailTo('mem_erased');
    await stack.enqueue(delivery);
    await stack.sendDue(stack.worker());
    expect(await stack.row(delivery.deliveryId)).toMatchObject({ status: 'cancelled', attempts: 0 });
  });

  test.each([
    ['250 ok', { outcome: 'delivered', failure: null, status_code: 250 }],
    ['450 mailbox busy', { outcome: 'retrying', failure: 'http', status_code: 450 }],
    ['550 no such mailbox', { outcome: 'failed', failure: 'http', status_code: 550 }],
  ])('maps the reply of a mail server to an outcome: %s', async (reply, expected) => {
    stack.emails.set('mem_smtp', 'grace@shop.example');
    await using server = await openMailServer(reply);
    const { url, mails } = server;
    const delivery = emailTo('mem_smtp');
    await stack.enqueue(delivery);
    await stack.sendDue(stack.worker({ mail: { SMTP_URL: url } }));
    expect(await stack.attempts(delivery.deliveryId)).toMatchObject([expected]);
    expect(mails.length > 0).toBe(expected.failure === null);
  });

  test('retries when the mail server is not reachable', async () => {
    stack.emails.set('mem_down', 'down@shop.example');
    const delivery = emailTo('mem_down');
    await stack.enqueue(delivery);
    await stack.sendDue(stack.worker({ mail: { SMTP_URL: 'smtp://127.0.0.1:9' } }));
    expect(await stack.attempts(delivery.deliveryId)).toMatchObject([
      { outcome: 'retrying', failure: 'connection', status_code: null },
    ]);
  });
});
