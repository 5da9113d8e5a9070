import type { Shortened } from '#contracts/observations/shorten-ad.ts';
import { CalendarDate } from '#contracts/values/primitives.ts';
import { CUT_MARK } from '#contracts/values/text.ts';

/** `dates`: those that became unknown because they cannot be true. */
export type ShortenedObservation = Shortened & { dates?: number };

const isMark = (item: unknown): boolean =>
  item === CUT_MARK ||
  (typeof item === 'object' && item !== null && Object.values(item).every((part) => part === CUT_MARK));

const countIn = (sent: unknown, stored: unknown, counted: ShortenedObservation): void => {
  if (sent === stored) return;
  if (typeof sent === 'string') {
    if (stored === null && CalendarDate.safeParse(sent).success) counted.dates = (counted.dates ?? 0) + 1;
    else if (stored === null) counted.urls += 1;
    else if (typeof stored === 'string' && stored.length < sent.trim().length) counted.texts += 1;
  } else if (Array.isArray(sent) && Array.isArray(stored)) {
    // The mark at the end of a cut list stands for the entries left out.
    const isMarked = stored.length < sent.length && isMark(stored.at(-1));
    const kept = isMarked ? stored.length - 1 : stored.length;
    counted.entries += sent.length - kept;
    for (let index = 0; index < kept; index += 1) countIn(sent[index], stored[index], counted);
  } else if (typeof sent === 'object' && sent !== null && typeof stored === 'object' && stored !== null) {
    for (const [name, part] of Object.entries(stored)) {
      countIn((sent as Readonly<Record<string, unknown>>)[name], part, counted);
    }
  }
};

/** `null` when validation cut nothing. */
export const countShortened = (sent: unknown, stored: unknown): ShortenedObservation | null => {
  const counted: ShortenedObservation = { texts: 0, urls: 0, entries: 0 };
  countIn(sent, stored, counted);
  return Object.values(counted).every((count) => count === 0) ? null : counted;
};
