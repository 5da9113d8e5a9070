import type { Shortened } from '#contracts/observations/shorten-ad.ts';
import { CUT_MARK } from '#contracts/values/text.ts';

const isMark = (item: unknown): boolean =>
  item === CUT_MARK ||
  (typeof item === 'object' && item !== null && Object.values(item).every((part) => part === CUT_MARK));

const countIn = (sent: unknown, stored: unknown, counted: Shortened): void => {
  if (typeof sent === 'string') {
    if (stored === null) counted.urls += 1;
    else if (typeof stored === 'string' && stored.length < sent.trim().length) counted.texts += 1;
  } else if (Array.isArray(sent) && Array.isArray(stored)) {
    // The mark at the end of a cut list stands for the entries that were left out.
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

/**
 * Counts what validation cut to bring an observation within its limits: texts, URLs that became unknown, and entries of
 * lists. `null` when it cut nothing.
 */
export const countShortened = (sent: unknown, stored: unknown): Shortened | null => {
  const counted: Shortened = { texts: 0, urls: 0, entries: 0 };
  countIn(sent, stored, counted);
  return counted.texts + counted.urls + counted.entries === 0 ? null : counted;
};
