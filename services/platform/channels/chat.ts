import { z } from 'zod';
import { CHAT_TOOLS_NAMED, type ChatTool, chatToolOf } from '#contracts/values/chat-tools.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { SECOND_MS } from '#contracts/values/time.ts';
import { explanationOf, headlineOf, itemsNamed, observedLine, remainderOf } from './message-text.ts';
import type { Clock } from '../clock.ts';
import { type TargetRules, isAllowedLoopback } from '../egress/check-target-url.ts';
import type { Egress } from '../egress/http-client.ts';
import { postOnce } from './http-post.ts';
import { RETRY_AFTER_MAX_MS, type SendOutcome, failedOutcome } from './send-outcome.ts';

/** Longer texts are cut and end in an ellipsis. */
const HEADING_MAX_CHARACTERS = 150;
const NAME_MAX_CHARACTERS = 100;
const TITLE_MAX_CHARACTERS = 400;

type Parts = {
  readonly headline: string;
  /** Text of the service without observed text; may contain a link to the service. */
  readonly explanation: string | null;
  readonly items: readonly { readonly brand: string; readonly title: string; readonly url: string }[];
  /** Counts the items left out; `null` when there are none. */
  readonly remainder: string | null;
  readonly footer: string;
};

const cut = (text: string, max: number): string =>
  // A pair of surrogates is not cut in the middle.
  text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;

const partsOf = (payload: AlertPayload): Omit<Parts, 'remainder'> => ({
  headline: cut(observedLine(headlineOf(payload)), HEADING_MAX_CHARACTERS),
  explanation: explanationOf(payload),
  items: itemsNamed(payload).map(({ brand, title, url }) => ({
    brand: cut(observedLine(brand.name), NAME_MAX_CHARACTERS),
    title: cut(observedLine(title), TITLE_MAX_CHARACTERS),
    url,
  })),
  footer: `Observed until ${payload.as_of}`,
});

/** Slack's markup and HTML, so that no part of a name becomes a mention or a link. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Breaks mentions, links and hosts with an invisible zero-width space, for tools that have no escape for these. */
const inert = (text: string): string =>
  text.replaceAll(/[@<\]|]|:(?=\/\/)|(?<=[\p{L}\p{N}])\.(?=\p{L})/gu, '$&\u200B');

/** Escapes emphasis and makes the rest of the markup inert. */
const asMarkdown = (text: string): string => inert(text.replaceAll(/[\\*_~`#]/g, String.raw`\$&`));

/** `verbatim` keeps Slack from making links of addresses. */
const slack = ({ headline, explanation, items, remainder, footer }: Parts) => {
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });
  return {
    text: escaped(headline),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: headline } },
      ...(explanation === null ? [] : [section(escaped(explanation))]),
      ...items.map(({ brand, title, url }) =>
        section(`*${escaped(brand)}*: <${url}|${escaped(title).replaceAll('|', '¦')}>`),
      ),
      ...(remainder === null ? [] : [section(remainder)]),
      { type: 'context', elements: [{ type: 'mrkdwn', text: footer }] },
    ],
  };
};

/** The link is a word of ours, because tools show links with addresses as their text in full. */
const markdownLines = ({ explanation, items, remainder }: Parts): readonly string[] => [
  ...(explanation === null ? [] : [explanation]),
  ...items.map(({ brand, title, url }) => `**${asMarkdown(brand)}**: ${asMarkdown(title)} [Details](${url})`),
  ...(remainder === null ? [] : [remainder]),
];

/** `allowed_mentions` turns all mentions off. */
const discord = (parts: Parts) => ({
  content: `**${asMarkdown(parts.headline)}**`,
  embeds: [{ description: markdownLines(parts).join('\n'), footer: { text: parts.footer } }],
  allowed_mentions: { parse: [] },
});

/** For Mattermost and Rocket.Chat. */
const markdown = (parts: Parts) => ({
  text: [`**${asMarkdown(parts.headline)}**`, ...markdownLines(parts), `_${parts.footer}_`].join('\n'),
});

/** An Adaptive Card, because the runs of a `RichTextBlock` are text without markup. */
const teams = ({ headline, explanation, items, remainder, footer }: Parts) => {
  const run = (text: string, more: object = {}) => ({ type: 'TextRun', text, ...more });
  const block = (...inlines: readonly object[]) => ({ type: 'RichTextBlock', inlines });
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full' },
          body: [
            block(run(headline, { size: 'Large', weight: 'Bolder' })),
            ...(explanation === null ? [] : [block(run(explanation))]),
            ...items.map(({ brand, title, url }) =>
              block(
                run(brand, { weight: 'Bolder' }),
                run(`: ${title} `),
                run('Details', { selectAction: { type: 'Action.OpenUrl', url } }),
              ),
            ),
            ...(remainder === null ? [] : [block(run(remainder))]),
            block(run(footer, { isSubtle: true, size: 'Small' })),
          ],
        },
      },
    ],
  };
};

/** A card, in which no mention is possible. Its texts take some HTML; labels and titles take none. */
const googleChat = ({ headline, explanation, items, remainder, footer }: Parts) => {
  const paragraph = (text: string) => ({ textParagraph: { text: escaped(text) } });
  return {
    fallbackText: inert(headline),
    cardsV2: [
      {
        cardId: 'alert',
        card: {
          header: { title: inert(headline), subtitle: footer },
          sections: [
            {
              widgets: [
                ...(explanation === null ? [] : [paragraph(explanation)]),
                ...items.map(({ brand, title, url }) => ({
                  decoratedText: {
                    topLabel: inert(brand),
                    text: escaped(inert(title)),
                    wrapText: true,
                    button: { text: 'Details', onClick: { openLink: { url } } },
                  },
                })),
                ...(remainder === null ? [] : [paragraph(remainder)]),
              ],
            },
          ],
        },
      },
    ],
  };
};

/**
 * Maximum bytes of a message as JSON, below the tools' limits: Slack 50 blocks of 3,000 characters; Discord 4,096
 * characters; Teams 28 KB; Google Chat 32,000 bytes; Mattermost 16,383 and Rocket.Chat 5,000 characters.
 */
const FORMS: Readonly<
  Record<ChatTool, { readonly build: (parts: Parts) => object; readonly maxBytes: number }>
> = {
  slack: { build: slack, maxBytes: 100_000 },
  discord: { build: discord, maxBytes: 4_000 },
  teams: { build: teams, maxBytes: 27_000 },
  googleChat: { build: googleChat, maxBytes: 31_000 },
  mattermost: { build: markdown, maxBytes: 16_000 },
  rocketChat: { build: markdown, maxBytes: 4_900 },
};

/** Lists as many items as the tool's limit allows, and counts the others. */
export const chatMessageOf = (payload: AlertPayload, tool: ChatTool): object => {
  const { build, maxBytes } = FORMS[tool];
  const parts = partsOf(payload);
  for (let count = parts.items.length; ; count -= 1) {
    const items = parts.items.slice(0, count);
    const message = build({ ...parts, items, remainder: remainderOf(payload, count) });
    if (count === 0 || Buffer.byteLength(JSON.stringify(message)) <= maxBytes) return message;
  }
};

/** RFC 6585, section 4. */
const TOO_MANY_REQUESTS = 429;

export const UNKNOWN_CHAT_TOOL = `This is not an incoming webhook of a supported chat tool: ${CHAT_TOOLS_NAMED}. Signed requests to other receivers go to \`webhook_url\`.`;

/** `null` when alerts are not sent there. With loopback allowed, a receiver on this machine gets what Slack gets. */
export const chatToolAt = (address: string, rules: TargetRules): ChatTool | null => {
  const url = URL.parse(address);
  return url && (chatToolOf(url) ?? (isAllowedLoopback(url, rules) ? 'slack' : null));
};

/** Without the ending, Discord takes its own form for that of Slack, which would leave mentions alive. */
const addressOf = (tool: ChatTool, url: string): string =>
  tool === 'discord' ? url.replace(/\/slack\/?(?=\?|$)/, '') : url;

const RetryAnswer = z.object({ retry_after: z.number().nonnegative() });

/** Milliseconds that the JSON of a refusal asks to wait, as Discord does in seconds; otherwise 0. */
const askedWaitMs = (answer: Buffer | null): number => {
  try {
    const { retry_after } = RetryAnswer.parse(JSON.parse(answer?.toString('utf8') ?? ''));
    return Math.min(RETRY_AFTER_MAX_MS, Math.ceil(retry_after * SECOND_MS));
  } catch {
    return 0;
  }
};

export type ChatChannel = {
  /** Makes one attempt; the URL is a secret. Never rejects. An address of no supported tool is a blocked target. */
  sendOnce(target: { readonly url: string }, payload: AlertPayload): Promise<SendOutcome>;
};

export const openChatChannel = (egress: Egress, clock: Clock): ChatChannel => ({
  sendOnce: async ({ url }, payload) => {
    const tool = chatToolAt(url, egress.rules);
    if (tool === null) return failedOutcome('blocked_target', UNKNOWN_CHAT_TOOL, performance.now());
    const outcome = await postOnce(egress, clock, {
      url: addressOf(tool, url),
      headers: ['content-type', 'application/json', 'user-agent', 'ad-intelligence-chat/1'],
      body: Buffer.from(JSON.stringify(chatMessageOf(payload, tool)), 'utf8'),
    });
    if (outcome.status_code !== TOO_MANY_REQUESTS) return outcome;
    const waitMs = Math.max(outcome.retry_after_ms ?? 0, askedWaitMs(outcome.answer));
    return { ...outcome, retry_after_ms: waitMs === 0 ? outcome.retry_after_ms : waitMs };
  },
});
