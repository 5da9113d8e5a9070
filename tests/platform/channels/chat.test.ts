import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHAT_TOOLS, type ChatTool } from '#contracts/values/chat-tools.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import {
  type ChatChannel,
  UNKNOWN_CHAT_TOOL,
  chatMessageOf,
  chatToolAt,
  openChatChannel,
} from '#platform/channels/chat.ts';
import { systemClock } from '#platform/clock.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { newDelivery } from '#tests/delivery/new-delivery.ts';
import { answers, openTlsReceivers, type Received } from '#tests/delivery/receivers.ts';

const HEX = 'ab12'.repeat(8);
const TEAMS_PATH = `workflows/${HEX}/triggers/manual/paths/invoke`;

/** Addresses of each tool; the first one is sent to. */
const ADDRESSES: Readonly<Record<ChatTool, readonly string[]>> = {
  slack: [
    'https://hooks.slack.com/services/T0AB12/B0CD34/ab12CD34ef56',
    'https://hooks.slack-gov.com/services/T0AB12/B0CD34/ab12CD34ef56',
  ],
  discord: [
    'https://discord.com/api/webhooks/1234567890123456789/ab-CD_12',
    'https://discordapp.com/api/webhooks/1234567890123456789/ab-CD_12',
    'https://canary.discord.com/api/v10/webhooks/1234567890123456789/ab-CD_12?thread_id=1',
    'https://discord.com/api/webhooks/1234567890123456789/ab-CD_12/slack',
  ],
  teams: [
    `https://prod-12.westeurope.logic.azure.com:443/${TEAMS_PATH}?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=abc`,
    `https://default${HEX}.12.environment.api.powerplatform.com:443/powerautomate/automations/direct/${TEAMS_PATH}?api-version=1&sig=abc`,
  ],
  googleChat: ['https://chat.googleapis.com/v1/spaces/AAAAab12/messages?key=k&token=t%3D'],
  mattermost: [
    'https://talk.shop.example/hooks/ab12cd34ef56ab12cd34ef56ab',
    'https://shop.example/talk/hooks/ab12cd34ef56ab12cd34ef56ab',
  ],
  rocketChat: [`https://rocket.shop.example/hooks/64b0c1d2e3f4a5b6c7d8e9f0/${'aB3dE'.repeat(12)}`],
};

/** Addresses that people paste, and that no form fits. */
const OTHERS = [
  'https://hooks.slack.com/triggers/T0AB12/1234/ab12',
  'https://hooks.slack.com/workflows/T0AB12/A0/1234/ab12',
  'https://hooks.slack.com/',
  'https://hooks.slack.com.evil.example/services/T0AB12/B0CD34/ab12',
  'https://evilhooks.slack.com/services/T0AB12/B0CD34/ab12',
  'https://discord.com/channels/1/2',
  'https://discord.com/api/webhooks/1234567890123456789/ab-CD_12/github',
  'https://evil.example/?discord.com/api/webhooks/1234567890123456789/ab',
  'https://shop.webhook.office.com/webhookb2/ab12@cd34/IncomingWebhook/ef56/ab12',
  'https://logic.azure.com.evil.example/workflows/ab/triggers/manual/paths/invoke',
  'https://chat.google.com/room/AAAAab12',
  'https://api.telegram.org/bot123:abc/sendMessage',
  'https://talk.shop.example/hooks/short',
  'https://hooks.chat.example/services/T0/B0/secret',
];

const RULES = { allowLoopback: false };

describe('address of a chat tool', () => {
  test.each(CHAT_TOOLS.flatMap((tool) => ADDRESSES[tool].map((address) => [tool, address] as const)))(
    'is of %s: %s',
    (tool, address) => expect(chatToolAt(address, RULES)).toBe(tool),
  );
  test.each(OTHERS)('is of no tool: %s', (address) => expect(chatToolAt(address, RULES)).toBeNull());
  test('is that of Slack on this machine, where that is allowed', () => {
    expect(chatToolAt('http://127.0.0.1:9000/chat', RULES)).toBeNull();
    expect(chatToolAt('http://127.0.0.1:9000/chat', { allowLoopback: true })).toBe('slack');
    expect(chatToolAt('https://chat.example/chat', { allowLoopback: true })).toBeNull();
  });
});

const sample = newDelivery(
  { workspaceId: 'ws_chat', alertId: randomUUID() },
  { channel: 'chat', fingerprint: 'f' },
  new Date('2026-11-21T08:00:00.000Z'),
).payload;
const [item] = sample.items;

const payloadOf = (count: number, title: string, brand = 'Shop'): AlertPayload => ({
  ...sample,
  items_total: count,
  items: Array.from({ length: count }, () => ({
    ...(item as NonNullable<typeof item>),
    title,
    brand: { ...(item as NonNullable<typeof item>).brand, name: brand },
  })),
});

describe('chat message', () => {
  test('is text and blocks for Slack', () => {
    expect(chatMessageOf(sample, 'slack')).toEqual({
      text: 'Größe &amp; &lt;Preis&gt;: 1 observation',
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: 'Größe & <Preis>: 1 observation' } },
        {
          type: 'section',
          text: {
            type: 'mrkdwn',
            text: '*Shop &lt;!channel&gt;*: <https://api.test/v1/ads/9000000000000001|Shop was observed running a new ad: “20 % off ¦ today &amp; tomorrow”>',
            verbatim: true,
          },
        },
        {
          type: 'context',
          elements: [{ type: 'mrkdwn', text: 'Observed until 2026-11-21T08:00:00.000Z' }],
        },
      ],
    });
  });

  const DETAILS = 'https://api.test/v1/ads/9000000000000001';
  const LINE = `**Shop <\u200B!channel>**: Shop was observed running a new ad: “20 % off |\u200B today & tomorrow” [Details](${DETAILS})`;

  test('is content and an embed without mentions for Discord', () => {
    expect(chatMessageOf(sample, 'discord')).toEqual({
      content: '**Größe & <\u200BPreis>: 1 observation**',
      embeds: [{ description: LINE, footer: { text: 'Observed until 2026-11-21T08:00:00.000Z' } }],
      allowed_mentions: { parse: [] },
    });
  });

  test.each(['mattermost', 'rocketChat'] as const)('is one text of Markdown for %s', (tool) => {
    expect(chatMessageOf(sample, tool)).toEqual({
      text: `**Größe & <\u200BPreis>: 1 observation**\n${LINE}\n_Observed until 2026-11-21T08:00:00.000Z_`,
    });
  });

  test('is an Adaptive Card of plain runs for Teams', () => {
    expect(chatMessageOf(sample, 'teams')).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            body: [
              { type: 'RichTextBlock', inlines: [{ text: 'Größe & <Preis>: 1 observation' }] },
              {
                inlines: [
                  { type: 'TextRun', text: 'Shop <!channel>' },
                  {
                    type: 'TextRun',
                    text: ': Shop was observed running a new ad: “20 % off | today & tomorrow” ',
                  },
                  { text: 'Details', selectAction: { type: 'Action.OpenUrl', url: DETAILS } },
                ],
              },
              { inlines: [{ text: 'Observed until 2026-11-21T08:00:00.000Z' }] },
            ],
          },
        },
      ],
    });
  });

  test('is a card for Google Chat', () => {
    expect(chatMessageOf(sample, 'googleChat')).toMatchObject({
      cardsV2: [
        {
          card: {
            header: { title: 'Größe & <\u200BPreis>: 1 observation' },
            sections: [
              {
                widgets: [
                  {
                    decoratedText: {
                      topLabel: 'Shop <\u200B!channel>',
                      button: { text: 'Details', onClick: { openLink: { url: DETAILS } } },
                    },
                  },
                ],
              },
            ],
          },
        },
      ],
    });
  });

  /** Limits of the tools: characters of a text, or bytes of a message. */
  const LIMITS: Readonly<Record<ChatTool, (sent: string) => boolean>> = {
    slack: (sent) => {
      const { blocks } = JSON.parse(sent) as { blocks: { text?: { text: string; type: string } }[] };
      const fits = (text?: { text: string; type: string }) =>
        (text?.text.length ?? 0) <= (text?.type === 'plain_text' ? 150 : 3_000);
      return blocks.length <= 50 && blocks.every(({ text }) => fits(text));
    },
    discord: (sent) => {
      const { content, embeds } = JSON.parse(sent) as {
        content: string;
        embeds: { description: string }[];
      };
      return content.length <= 2_000 && embeds.every(({ description }) => description.length <= 4_096);
    },
    teams: (sent) => Buffer.byteLength(sent) <= 28 * 1_024,
    googleChat: (sent) => Buffer.byteLength(sent) <= 32_000,
    mattermost: (sent) => (JSON.parse(sent) as { text: string }).text.length <= 16_383,
    rocketChat: (sent) => (JSON.parse(sent) as { text: string }).text.length <= 5_000,
  };
  const LONG = ['a', '&', '"', '\\', '@', '*', '本', '😀', '<', 'a.'].map((sign) => sign.repeat(3_000));

  test.each(CHAT_TOOLS)('keeps the limits of %s, names at least one item and counts the others', (tool) => {
    for (const text of [...LONG, ...fc.sample(fc.string({ unit: 'grapheme', maxLength: 1_000 }), 20)]) {
      const sent = JSON.stringify(chatMessageOf(payloadOf(100, text, text), tool));
      expect(LIMITS[tool](sent), text.slice(0, 20)).toBe(true);
      const named = sent.split(DETAILS).length - 1;
      expect(named).toBeGreaterThan(0);
      expect(sent).toContain(`And ${100 - named} observations more.`);
      expect(sent).not.toMatch(/\\ud8[0-9a-f]{2}(?!\\ud[c-f])/);
    }
  });

  test.each(CHAT_TOOLS)('is small for %s without items', (tool) => {
    expect(JSON.stringify(chatMessageOf({ ...payloadOf(0, ''), type: 'alert.test' }, tool))).toContain(
      'This is a test.',
    );
  });
});

/** Answer of a tool, with the outcome that follows. */
type Recorded = readonly [status: number, body: string, headers: Record<string, string>, outcome: object];
const json = { 'content-type': 'application/json' };
const text = { 'content-type': 'text/plain' };
const done = { delivered: true, failure: null, retry_after_ms: null };
const refused = { delivered: false, failure: 'http', terminal: false };

const RECORDED: Readonly<Record<ChatTool, readonly Recorded[]>> = {
  slack: [
    [200, 'ok', text, done],
    [400, 'invalid_payload', text, refused],
    [400, 'invalid_blocks', text, refused],
    [403, 'invalid_token', text, refused],
    [404, 'no_service', text, refused],
    [410, 'channel_is_archived', text, { ...refused, terminal: true }],
    [429, 'rate_limited', { ...text, 'retry-after': '30' }, { ...refused, retry_after_ms: 30_000 }],
    [500, 'rollup_error', text, refused],
  ],
  discord: [
    [204, '', {}, done],
    [400, '{"message": "Cannot send an empty message", "code": 50006}', json, refused],
    [401, '{"message": "Invalid Webhook Token", "code": 50027}', json, refused],
    [404, '{"message": "Unknown Webhook", "code": 10015}', json, refused],
    [
      429,
      '{"message": "You are being rate limited.", "retry_after": 0.529, "global": false}',
      { ...json, 'x-ratelimit-reset-after': '0.529' },
      { ...refused, retry_after_ms: 529 },
    ],
    [
      429,
      '{"message": "You are being rate limited.", "retry_after": 64.57, "global": true}',
      { ...json, 'retry-after': '65' },
      { ...refused, retry_after_ms: 65_000 },
    ],
    [429, 'error code: 1015', { ...text, 'retry-after': '600' }, { ...refused, retry_after_ms: 600_000 }],
    [429, '{"retry_after": 1e30}', json, { ...refused, retry_after_ms: 86_400_000 }],
    [429, '{"retry_after": "soon"}', json, { ...refused, retry_after_ms: null }],
    [429, '{"retry_after": -1}', json, { ...refused, retry_after_ms: null }],
  ],
  teams: [
    [202, '', {}, done],
    [200, '', {}, done],
    [400, '{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"Not enabled."}}', json, refused],
    [401, '{"error":{"code":"DirectApiAuthorizationRequired","message":"No."}}', json, refused],
    [404, '{"error":{"code":"WorkflowNotFound","message":"Not found."}}', json, refused],
    [413, '', {}, refused],
    [429, '', { 'retry-after': '20' }, { ...refused, retry_after_ms: 20_000 }],
    [502, '{"error":{"code":"NoResponse","message":"No response."}}', json, refused],
  ],
  googleChat: [
    [
      200,
      '{"name":"spaces/AAAAab12/messages/x.y","thread":{"name":"spaces/AAAAab12/threads/x"}}',
      json,
      done,
    ],
    [
      400,
      '{"error":{"code":400,"message":"Invalid JSON payload","status":"INVALID_ARGUMENT"}}',
      json,
      refused,
    ],
    [401, '{"error":{"code":401,"message":"No token","status":"UNAUTHENTICATED"}}', json, refused],
    [403, '{"error":{"code":403,"message":"No key","status":"PERMISSION_DENIED"}}', json, refused],
    [404, '{"error":{"code":404,"message":"No space","status":"NOT_FOUND"}}', json, refused],
    [429, '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}', json, { ...refused, retry_after_ms: null }],
  ],
  mattermost: [
    [200, 'ok', text, done],
    [400, '{"id":"web.incoming_webhook.invalid.app_error","status_code":400}', json, refused],
    [404, '{"id":"web.incoming_webhook.channel.app_error","status_code":404}', json, refused],
    [429, 'limit exceeded', { ...text, 'retry-after': '1' }, { ...refused, retry_after_ms: 1_000 }],
    [501, '{"id":"web.incoming_webhook.disabled.app_error","status_code":501}', json, refused],
  ],
  rocketChat: [
    [200, '{"success":true}', json, done],
    [400, '{"success":false,"error":"invalid-channel"}', json, refused],
    [404, '{"success":false,"error":"Invalid integration id or token provided."}', json, refused],
    [429, '{"success":false,"error":"Too many requests"}', json, { ...refused, retry_after_ms: null }],
  ],
};

describe('chat tool', () => {
  const resources = new AsyncDisposableStack();
  let channel: ChatChannel;
  let receivers: Awaited<ReturnType<typeof openTlsReceivers>>;
  const hosts = [
    ...new Set(CHAT_TOOLS.flatMap((tool) => ADDRESSES[tool].map((one) => new URL(one).hostname))),
  ];

  beforeAll(async () => {
    receivers = resources.use(await openTlsReceivers('tools.example', hosts));
    const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }];
    const egress = resources.use(openEgress({ allowLoopback: true, resolve, ca: receivers.ca }));
    channel = openChatChannel(egress, systemClock);
  });
  afterAll(() => resources.disposeAsync());

  const send = async (address: string, [status, body, headers]: Recorded) => {
    const url = new URL(address);
    url.port = String(receivers.port);
    const received = receivers.received.length;
    receivers.behave(url.pathname.replace(/\/slack$/, '') + url.search, answers(status, headers, body));
    const outcome = await channel.sendOnce({ url: url.href }, sample);
    return { outcome, requests: receivers.received.slice(received) };
  };
  const bodyOf = (request: Received | undefined): unknown =>
    JSON.parse(request?.body.toString('utf8') ?? 'null');

  test.each(
    CHAT_TOOLS.flatMap((tool) =>
      RECORDED[tool].map((recorded) => [tool, recorded[0], recorded[1], recorded] as const),
    ),
  )('%s answers %i %s', async (tool, status, body, recorded) => {
    const { outcome, requests } = await send(ADDRESSES[tool][0] ?? '', recorded);
    expect(outcome).toMatchObject({ status_code: status, ...recorded[3] });
    expect(outcome.answer?.toString('utf8') ?? '').toBe(body);
    expect(outcome.reason === null).toBe(outcome.delivered);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.headers['content-type']).toBe('application/json');
    expect(bodyOf(requests[0])).toEqual(chatMessageOf(sample, tool));
  });

  test.each(CHAT_TOOLS.flatMap((tool) => ADDRESSES[tool].map((address) => [tool, address] as const)))(
    '%s gets its form at %s',
    async (tool, address) => {
      const { requests } = await send(address, [204, '', {}, {}]);
      expect(requests.map(bodyOf)).toEqual([chatMessageOf(sample, tool)]);
      expect(requests[0]?.path).not.toMatch(/slack/);
    },
  );

  test('gets nothing at an address that is of no supported tool', async () => {
    for (const address of OTHERS) {
      const { outcome, requests } = await send(address, [200, '', {}, {}]);
      expect(outcome).toMatchObject({
        delivered: false,
        failure: 'blocked_target',
        reason: UNKNOWN_CHAT_TOOL,
        terminal: true,
      });
      expect(requests).toEqual([]);
    }
  });
});
