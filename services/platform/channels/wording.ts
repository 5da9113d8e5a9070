import type { AlertItem, AlertPayload } from '#contracts/webhooks/alert-payload.ts';

/** Items that a message for people names; the rest is counted. */
export const ITEMS_NAMED_MAX = 20;

const counted = (count: number): string => (count === 1 ? '1 observation' : `${count} observations`);

/** The one line that a message is known by. */
export const headlineOf = ({ type, alert, items_total, period }: AlertPayload): string => {
  switch (type) {
    case 'alert.test':
      return `Test of the alert “${alert.name}”`;
    case 'alert.suspended':
      return `The alert “${alert.name}” was switched off`;
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
export const explanationOf = ({ type, alert }: AlertPayload): string | null => {
  switch (type) {
    case 'alert.test':
      return 'This is a sample. It says that messages of this alert arrive here.';
    case 'alert.suspended':
      return (
        `Everything that the alert “${alert.name}” sent for five days failed, so it sends nothing more. ` +
        'Mend its address and enable the alert again.'
      );
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
