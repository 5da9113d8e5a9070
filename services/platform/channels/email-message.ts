import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { explanationOf, headlineOf, itemsNamed, observedLine, remainderOf } from './message-text.ts';

export type EmailMessage = { readonly subject: string; readonly text: string };

export const emailMessageOf = (payload: AlertPayload): EmailMessage => {
  const items = itemsNamed(payload);
  const lines = [
    headlineOf(payload),
    '',
    explanationOf(payload),
    ...items.map(
      ({ brand, title, url }) => `- ${observedLine(brand.name)}: ${observedLine(title)}\n  ${url}`,
    ),
    remainderOf(payload, items.length),
    '',
    `Observed until ${payload.as_of}. These are observations of a public ad library, not statements of cause.`,
  ];
  return {
    subject: headlineOf(payload).replace(/\s+/g, ' '),
    text: `${lines.filter((line) => line !== null).join('\n')}\n`,
  };
};
