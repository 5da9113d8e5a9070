import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK, unescapeBaseUrl } from '#contracts/values/base-url.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import type { Evidence, Signal } from '#contracts/resources/workspace/signal.ts';
import { SIGNAL_THRESHOLDS, type SignalKind } from '#contracts/values/signals.ts';
import type { z } from 'zod';

export type SignalFigures = {
  readonly items: number;
  readonly before?: number;
  readonly after?: number;
  readonly active_before?: number;
  readonly usual?: number;
  readonly uncovered?: number;
  readonly compared_with?: string;
  readonly format?: AdFormat;
  readonly cheaper?: number | null;
  readonly products?: number | null;
  readonly withdrawn?: number;
  readonly added?: number;
};

export type SignalRow = {
  readonly id: string;
  readonly brand_id: string;
  readonly kind: SignalKind;
  readonly date: string;
  readonly observed_at: string;
  readonly figures: SignalFigures;
  readonly correction: Signal['correction'];
  readonly about: readonly {
    readonly ad_id: string | null;
    readonly page_id: string | null;
    readonly page_name: string | null;
    readonly role: NonNullable<Signal['about'][number]['role']> | null;
    readonly destination_url: string | null;
  }[];
};

export const SIGNAL_COLUMNS = `s.id, s.brand_id, s.kind, s.date::text, s.figures, s.about, s.correction`;

const SHARE_DIGITS = 4;
const share = (part: number, whole: number): number =>
  whole === 0 ? 0 : Number((part / whole).toFixed(SHARE_DIGITS));
const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

const counted = (count: number, one: string, several: string): string =>
  `${count} ${count === 1 ? one : several}`;

const saleSentence = ({ items, cheaper, products }: SignalFigures): string =>
  [
    ...(items > 0 ? [`${counted(items, 'ad', 'ads')} with sale copy started.`] : []),
    ...(cheaper && products
      ? [`${percent(cheaper, products)} of the catalogue was listed at a lower price.`]
      : []),
  ].join(' ');

const shiftSentence = (figures: SignalFigures): string => {
  const { format, before = 0, after = 0, active_before = 0, items } = figures;
  const { daysBefore } = SIGNAL_THRESHOLDS.format_mix_shift;
  const [from, to] = [percent(before, active_before), percent(after, items)];
  return `The share of format ${format} among active ads went from ${from} to ${to} in ${daysBefore} days.`;
};

const rampSentence = ({ before, after, uncovered }: SignalFigures): string => {
  const sentence = `Active ads went from ${before} to ${after} in ${SIGNAL_THRESHOLDS.ramp.daysBefore} days.`;
  return uncovered ? `${sentence} ${uncovered} of them came into view without having started.` : sentence;
};

/** States what changed, never why. */
export const summaryOf = ({
  kind,
  figures,
  correction,
}: Pick<SignalRow, 'kind' | 'figures' | 'correction'>): string => {
  if (correction !== 'withdrawn') return sentenceOf(kind, figures);
  const reported = sentenceOf(kind, { ...figures, items: figures.items + (figures.withdrawn ?? 0) });
  return `Withdrawn: ${reported} A scan that arrived late showed otherwise.`;
};

const sentenceOf = (kind: SignalKind, figures: SignalFigures): string => {
  const { items, before, after, usual } = figures;
  switch (kind) {
    case 'ads_started':
      return `${counted(items, 'ad', 'ads')} started.`;
    case 'ads_stopped':
      return `${counted(items, 'ad was', 'ads were')} confirmed inactive.`;
    case 'destinations_changed':
      return `${counted(items, 'change', 'changes')} of destination links.`;
    case 'ramp':
      return rampSentence(figures);
    case 'drop':
      return `Active ads went from ${before} to ${after} in ${SIGNAL_THRESHOLDS.drop.daysBefore} days.`;
    case 'launch_burst':
      return `${items} ads started; the mean of the reliable days of the ${SIGNAL_THRESHOLDS.launch_burst.windowDays} days before was ${usual}.`;
    case 'sale':
      return saleSentence(figures);
    case 'new_landing_page':
      return `Ads led to ${counted(items, 'landing page', 'landing pages')} not seen before.`;
    case 'new_linked_page':
      return `${counted(items, 'page was', 'pages were')} first observed to belong with the brand.`;
    case 'new_whitelisting_pair':
      return `Ads were first seen on ${counted(items, "page that is a creator's, a partner's", "pages that are a creator's, a partner's")} or not linked with the brand.`;
    case 'format_mix_shift':
      return shiftSentence(figures);
    case 'long_runner_refreshed':
      return `Copy or link changed in ${counted(items, 'ad', 'ads')} started ${SIGNAL_THRESHOLDS.long_runner_refreshed.ageDays} or more days before.`;
  }
};

const EVIDENCE_LIMIT = 100;

const dayBefore = (date: string, days: number): string => utcDateOfMs(Date.parse(date) - days * DAY_MS);

/** Each link replies 200 to a key that may read it, and shows the items behind the signal. */
const evidenceOf = (row: SignalRow, workspaceId: string): readonly z.infer<typeof Evidence>[] => {
  const { brand_id, date, kind, figures, about } = row;
  const brand = `${BASE_URL_MARK}/v1/brands/${brand_id}`;
  const activity = (from: string) =>
    ({ resource: 'daily_activity', url: `${brand}/daily-activity?from=${from}&to=${date}` }) as const;
  const radar = (type: string) =>
    ({
      resource: 'radar',
      url: `${BASE_URL_MARK}/v1/workspaces/${workspaceId}/radar?brand_id=${brand_id}&date=${date}&types=${type}&limit=${EVIDENCE_LIMIT}`,
    }) as const;
  const ads = about.flatMap(({ ad_id }) =>
    ad_id === null ? [] : [{ resource: 'ad', url: `${BASE_URL_MARK}/v1/ads/${ad_id}` } as const],
  );
  switch (kind) {
    case 'ads_started':
      return [radar('ad_started')];
    case 'ads_stopped':
      return [radar('ad_stopped')];
    case 'destinations_changed':
      return [radar('destination_changed')];
    case 'ramp':
    case 'drop':
      return [activity(figures.compared_with ?? date)];
    case 'launch_burst':
      return [radar('ad_started'), activity(dayBefore(date, SIGNAL_THRESHOLDS.launch_burst.windowDays))];
    case 'sale':
      return figures.cheaper ? [...ads, { resource: 'store', url: `${brand}/store` }] : ads;
    case 'new_linked_page':
      return [{ resource: 'social_pages', url: `${brand}/social-pages` }];
    case 'format_mix_shift': {
      const url = `${BASE_URL_MARK}/v1/ads?brand_id=${brand_id}&format=${figures.format}&status=active&limit=${EVIDENCE_LIMIT}`;
      return [activity(figures.compared_with ?? date), { resource: 'ads', url }];
    }
    case 'new_landing_page':
    case 'new_whitelisting_pair':
    case 'long_runner_refreshed':
      return ads;
  }
};

const countsOf = ({ kind, figures }: SignalRow): Signal['counts'] => {
  const { items, before, after, active_before, usual, uncovered, cheaper, products, withdrawn, added } =
    figures;
  const isShift = kind === 'format_mix_shift';
  return {
    items,
    before: before ?? null,
    after: after ?? null,
    share_before: isShift ? share(before ?? 0, active_before ?? 0) : null,
    share_after: isShift ? share(after ?? 0, items) : null,
    cheaper_share: cheaper && products ? share(cheaper, products) : null,
    usual: usual ?? null,
    uncovered: uncovered ?? null,
    withdrawn: withdrawn ?? 0,
    added: added ?? 0,
  };
};

export const signalText = (row: SignalRow, brand: string, workspaceId: string): string => {
  const { id, kind, date, observed_at, figures, about, correction } = row;
  const { compared_with, format } = figures;
  const signal: Omit<Signal, 'brand'> = {
    id,
    kind,
    date,
    observed_at,
    summary: summaryOf(row),
    counts: countsOf(row),
    compared_with: compared_with ?? null,
    format: format ?? null,
    about: about.map(({ ad_id, page_id, page_name, role, destination_url }) => ({
      ad: ad_id === null ? null : { id: ad_id, url: `${BASE_URL_MARK}/v1/ads/${ad_id}` },
      page: page_id === null ? null : { page_id, page_name },
      role,
      destination_url,
    })),
    evidence: [...evidenceOf(row, workspaceId)],
    correction,
  };
  const text = unescapeBaseUrl(JSON.stringify(signal));
  return appendFields(text, { brand });
};
