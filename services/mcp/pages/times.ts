const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
export const dayOf = (time: Date): string => DAY.format(time);
export const timeOf = (time: Date): string => `${TIME.format(time)} UTC`;
