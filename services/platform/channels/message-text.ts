import type { EndpointChannel } from '#contracts/values/alerts.ts';
import type { AlertItem, AlertPayload } from '#contracts/webhooks/alert-payload.ts';

/** Items that a message for people names; the rest is counted. */
export const ITEMS_NAMED_MAX = 20;

const counted = (count: number): string => (count === 1 ? '1 observation' : `${count} observations`);

const CHANNEL_WORDS: Readonly<Record<EndpointChannel, string>> = {
  webhook: 'the webhook',
  chat: 'the chat tool',
};

/** Notices of then name no channel: one that failed had the whole rule disabled. */
const suspensionOf = ({ alert, suspended_channel: channel }: AlertPayload): string =>
  channel === undefined
    ? `Everything that the alert “${alert.name}” sent for five days failed, so it sends nothing more. ` +
      'Mend its address and enable the alert again.'
    : `Everything that the alert “${alert.name}” sent to ${CHANNEL_WORDS[channel]} for five days failed, so nothing ` +
      'more is sent there. Its other channels are not concerned. Give this one an address, a new one or the same, ' +
      'and it is sent to again.';

/** The one line that a message is known by. */
export const headlineOf = ({ type, alert, items_total, period, suspended_channel }: AlertPayload): string => {
  switch (type) {
    case 'alert.test':
      return `Test of the alert “${alert.name}”`;
    case 'alert.suspended':
      return suspended_channel === undefined
        ? `The alert “${alert.name}” was switched off`
        : `The alert “${alert.name}” does not send to ${CHANNEL_WORDS[suspended_channel]} any more`;
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

/** What stands between the headline and the items; `null` where the items say it all. */
export const explanationOf = (payload: AlertPayload): string | null => {
  switch (payload.type) {
    case 'alert.test':
      return 'This is a sample. It says that messages of this alert arrive here.';
    case 'alert.suspended':
      return suspensionOf(payload);
    case 'alert.digest':
    case 'alert.matched':
      return null;
  }
};

export const itemsNamed = (payload: AlertPayload): readonly AlertItem[] =>
  payload.items.slice(0, ITEMS_NAMED_MAX);

/** What is counted and not named, as a sentence; `null` when everything is named. */
export const remainderOf = (payload: AlertPayload): string | null => {
  const more = payload.items_total - itemsNamed(payload).length;
  return more > 0 ? `And ${counted(more)} more.` : null;
};
