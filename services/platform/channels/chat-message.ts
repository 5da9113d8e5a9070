import type { AlertItem, AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { explanationOf, headlineOf, itemsNamed, observedLine, remainderOf } from './message-text.ts';

/** Maximum characters of a heading and of a section in chat tools. Longer texts are cut and end in an ellipsis. */
const HEADER_MAX_CHARACTERS = 150;
const SECTION_MAX_CHARACTERS = 3_000;

/** `verbatim` keeps the tool from making links of addresses in observed text. */
type Text =
  | { readonly type: 'plain_text'; readonly text: string }
  | { readonly type: 'mrkdwn'; readonly text: string; readonly verbatim?: true };
export type ChatMessage = {
  /** Fallback text: shown in notifications and by tools that do not support blocks. */
  readonly text: string;
  readonly blocks: readonly (
    | { readonly type: 'header' | 'section'; readonly text: Text }
    | { readonly type: 'context'; readonly elements: readonly Text[] }
  )[];
};

const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);

/** Escapes the three characters of chat markup, so that no part of a name becomes a mention or a link. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const lineOf = ({ brand, title, url }: AlertItem): string =>
  `*${escaped(observedLine(brand.name))}*: <${url}|${escaped(observedLine(title)).replaceAll('|', '¦')}>`;

/** Builds the body of an incoming webhook of a chat tool: a text, and the same content as blocks. */
export const chatMessageOf = (payload: AlertPayload): ChatMessage => {
  const headline = headlineOf(payload);
  const explanation = explanationOf(payload);
  const remainder = remainderOf(payload);
  const section = (text: string) => ({
    type: 'section' as const,
    text: { type: 'mrkdwn' as const, text: cut(text, SECTION_MAX_CHARACTERS), verbatim: true as const },
  });
  return {
    text: escaped(headline),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(headline, HEADER_MAX_CHARACTERS) } },
      ...(explanation === null ? [] : [section(escaped(explanation))]),
      ...itemsNamed(payload).map((item) => section(lineOf(item))),
      ...(remainder === null ? [] : [section(remainder)]),
      { type: 'context', elements: [{ type: 'mrkdwn', text: `Observed until ${payload.as_of}` }] },
    ],
  };
};
