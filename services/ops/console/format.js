/** Figures and times as people read them. */

const NUMBER = new Intl.NumberFormat('en');
const MOMENT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});

export const count = (value) => NUMBER.format(Math.round(value));

export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/** Of events in a second; what is slow is not nothing. */
export const rate = (value) => {
  if (value === 0) return '–';
  if (value < 0.1) return '< 0.1/s';
  return `${value < 10 ? Math.round(value * 10) / 10 : count(value)}/s`;
};

/** In UTC, as everything that is recorded. */
export const moment = (iso) => (iso === null ? '–' : `${MOMENT.format(new Date(iso))} UTC`);

export const duration = (seconds) => {
  if (seconds === null) return 'unknown';
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
};
