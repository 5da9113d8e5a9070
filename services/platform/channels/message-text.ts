import type { EndpointChannel } from '#contracts/values/alerts.ts';
import type { AlertItem, AlertPayload } from '#contracts/webhooks/alert-payload.ts';

export const ITEMS_NAMED_MAX = 20;

/** Keeps observed text on one line and in reading order, so that it cannot pose as another item. */
export const observedLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ');

const counted = (count: number): string => (count === 1 ? '1 observation' : `${count} observations`);

const CHANNEL_WORDS: Readonly<Record<EndpointChannel, string>> = {
  webhook: 'the webhook',
  chat: 'the chat tool',
};

/** Old notices name no channel: one failing endpoint then disabled the whole rule. */
const suspensionOf = ({ alert, suspended_channel: channel }: AlertPayload): string =>
  channel === undefined
    ? `All messages of the alert “${alert.name}” failed for five days, so the alert was disabled. ` +
      'Fix its address and enable the alert again.'
    : `All messages of the alert “${alert.name}” to ${CHANNEL_WORDS[channel]} failed for five days, so this channel ` +
      'was suspended. Its other channels are not affected. To resume, set the address of this channel again: a new ' +
      'one or the same.';

/** Text of a message that replaces several. */
const mergerOf = ({ alerts, url }: NonNullable<AlertPayload['merged']>): string =>
  `Too many messages of this alert were waiting, so this one replaces ${alerts}. All of them: ${url}`;

export const headlineOf = ({ type, alert, items_total, period, suspended_channel }: AlertPayload): string => {
  switch (type) {
    case 'alert.test':
      return `Test of the alert “${alert.name}”`;
    case 'alert.suspended':
      return suspended_channel === undefined
        ? `The alert “${alert.name}” was disabled`
        : `The alert “${alert.name}” no longer sends to ${CHANNEL_WORDS[suspended_channel]}`;
    case 'alert.digest':
      return period === null
        ? `${alert.name}: ${counted(items_total)}`
        : `${alert.name}: ${counted(items_total)}, ${periodOf(period)}`;
    case 'alert.matched':
      return `${alert.name}: ${counted(items_total)}`;
  }
};

const periodOf = ({ from, to }: { readonly from: string; readonly to: string }): string =>
  from === to ? from : `${from} to ${to}`;

/** `null` when nothing stands between headline and items. */
export const explanationOf = (payload: AlertPayload): string | null => {
  switch (payload.type) {
    case 'alert.test':
      return 'This is a test. It shows that messages of this alert arrive here.';
    case 'alert.suspended':
      return suspensionOf(payload);
    case 'alert.digest':
    case 'alert.matched':
      return payload.merged === undefined ? null : mergerOf(payload.merged);
  }
};

export const itemsNamed = (payload: AlertPayload): readonly AlertItem[] =>
  payload.items.slice(0, ITEMS_NAMED_MAX);

/** `null` when all items are listed. */
export const remainderOf = (payload: AlertPayload, listed: number): string | null => {
  const more = payload.items_total - listed;
  return more > 0 ? `And ${counted(more)} more.` : null;
};
