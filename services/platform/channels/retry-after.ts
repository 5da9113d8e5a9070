/** A receiver may put us off for a day at most; what asks for more is taken for a day. */
export const RETRY_AFTER_MAX_MS = 86_400_000;

/** `Retry-After` (RFC 9110, 10.2.3), in seconds or as a date, as milliseconds from now; `null` where it says nothing. */
export const retryAfterMs = (value: string | undefined, now: Date): number | null => {
  const text = value?.trim() ?? '';
  if (text === '') return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? null : Math.min(RETRY_AFTER_MAX_MS, Math.max(0, ms));
};
