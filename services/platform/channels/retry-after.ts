/** A receiver may put us off for a day at most; what asks for more is taken for a day. */
export const RETRY_AFTER_MAX_MS = 86_400_000;

/** The three forms of a date (RFC 9110, 5.6.7), all of them in UTC, whatever zone this machine is in. */
const IMF_OR_RFC850 = /^[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2}(\d{2})? \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

const dateMs = (text: string): number => {
  if (IMF_OR_RFC850.test(text)) return Date.parse(text);
  return ASCTIME.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
};

/** `Retry-After` (RFC 9110, 10.2.3), in seconds or as a date, as milliseconds from now; `null` where it says nothing. */
export const retryAfterMs = (value: string | undefined, now: Date): number | null => {
  const text = value?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : dateMs(text) - now.getTime();
  return Number.isNaN(ms) ? null : Math.min(RETRY_AFTER_MAX_MS, Math.max(0, ms));
};
