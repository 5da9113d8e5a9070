import { DAY_MS } from '#contracts/values/time.ts';
/** Longer requests of a receiver are reduced to one day. */
export const RETRY_AFTER_MAX_MS = DAY_MS;

/** The three date formats of HTTP (RFC 9110, 5.6.7), all in UTC. */
const IMF_OR_RFC850 = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2}(\d{2})? \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

const dateMs = (text: string): number => {
  if (IMF_OR_RFC850.test(text)) return Date.parse(text);
  return ASCTIME.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
};

/** `Retry-After` (RFC 9110, 10.2.3) in seconds or as a date, as ms from now. `null` when absent or invalid. */
export const retryAfterMs = (value: string | undefined, now: Date): number | null => {
  const text = value?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : dateMs(text) - now.getTime();
  return Number.isNaN(ms) ? null : Math.min(RETRY_AFTER_MAX_MS, Math.max(0, ms));
};
