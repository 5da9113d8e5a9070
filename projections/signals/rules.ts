import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import { SIGNAL_THRESHOLDS } from '#contracts/values/signals.ts';
import { DAY_MS, utcDate } from '#contracts/values/time.ts';

export const isLongRunner = (
  { started_on }: { readonly started_on: string | null },
  observed_at: string,
): boolean =>
  started_on !== null &&
  Date.parse(utcDate(observed_at)) - Date.parse(started_on) >=
    SIGNAL_THRESHOLDS.long_runner_refreshed.ageDays * DAY_MS;

export const COPY: readonly (keyof AdContent)[] = [
  'body',
  'title',
  'link_description',
  'caption',
  'cards',
  'versions',
];

export const textsOf = (content: AdContent): readonly (string | null)[] => [
  content.body,
  content.title,
  content.link_description,
  ...[...content.cards, ...content.versions].flatMap(({ body, title }) => [body, title]),
];
