import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';

/** `payload` is `null` when the request was not genuine. */
export type Delivery = {
  readonly receivedAt: string;
  /** `null` when the signature is right. */
  readonly fault: string | null;
  readonly payload: AlertPayload | null;
};

const ITEMS_SHOWN = 4;
const REFRESH_SECONDS = 5;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #1d2430; background: #fff }
h1 { font-size: 1.4rem } li { margin: 0 0 1.2rem } ol { list-style: none; padding: 0 } ul { margin: .2rem 0 0 }
.muted { color: #57606a } .right { color: #116329 } .wrong { color: #a40e26 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } .muted { color: #9da7b3 }
  .right { color: #56d364 } .wrong { color: #ff8f87 } a { color: #79b8ff } }`;

export const receiverPage = (deliveries: readonly Delivery[]): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${REFRESH_SECONDS}"><title>Webhooks of the demo</title><style>${STYLE}</style></head><body>
<h1>Webhooks of the demo</h1>
<p class="muted">Alerts of the demo workspace arrive here. The page reloads every ${REFRESH_SECONDS} seconds and forgets its list when
npm start ends. contracts/guide/webhooks.md describes the requests.</p>
${deliveries.length === 0 ? '<p>Nothing has arrived yet. The next scan brings something.</p>' : `<ol>${deliveries.map(deliveryOf).join('')}</ol>`}
</body></html>`;

const deliveryOf = ({ receivedAt, fault, payload }: Delivery): string => {
  const time = `<time datetime="${receivedAt}">${receivedAt.slice(0, 19).replace('T', ' ')} UTC</time>`;
  if (fault !== null) {
    return `<li>${time}: <strong class="wrong">refused</strong> ${escaped(fault)}</li>`;
  }
  const right = '<strong class="right">signature verified</strong>';
  if (payload === null) return `<li>${time}: ${right}, but the body has an unknown form.</li>`;
  const { alert, items, items_total, kind, id } = payload;
  const hidden = items_total - Math.min(items.length, ITEMS_SHOWN);
  return `<li>${time}: <strong>${escaped(alert.name)}</strong> (${escaped(kind)}), ${items_total} ${items_total === 1 ? 'item' : 'items'}, ${right}
<br><span class="muted">webhook-id ${escaped(id)}</span><ul>${items.slice(0, ITEMS_SHOWN).map(itemOf).join('')}${
    hidden > 0 ? `<li class="muted">and ${hidden} more</li>` : ''
  }</ul></li>`;
};

const itemOf = ({ brand, title, destination_url }: AlertPayload['items'][number]): string =>
  `<li><bdi>${escaped(brand.name)}</bdi>: <bdi>${escaped(title)}</bdi>${
    destination_url === null ? '' : ` <span class="muted"><bdi>${escaped(destination_url)}</bdi></span>`
  }</li>`;
