import type { ChatTool } from '#contracts/values/chat-tools.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { explanationOf, headlineOf, itemsNamed, observedLine, remainderOf } from './message-text.ts';

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
