import type { z } from 'zod';
import type { DailyActivity } from '#contracts/resources/corpus/brand.ts';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { type Html, html } from './layout.ts';

/** Plot of daily activity as SVG: lengths across are percentages and heights are pixels, so text keeps its size. */

export const PLOT_DAYS = 90;

/** `null` for a day that no scan observed. */
export type Day = { readonly date: string; readonly seen: z.infer<typeof DailyActivity> | null };

/** The days that end with `last`, oldest first. */
export const daysUntil = (
  last: string,
  observed: readonly z.infer<typeof DailyActivity>[],
): readonly Day[] => {
  const seen = new Map(observed.map((one) => [one.date, one]));
  return Array.from({ length: PLOT_DAYS }, (_, index) => {
    const date = utcDateOfMs(Date.parse(last) - (PLOT_DAYS - 1 - index) * DAY_MS);
    return { date, seen: seen.get(date) ?? null };
  });
};

const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
export const shortDay = (date: string): string => SHORT_DAY.format(new Date(date));

export const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

/** A scan that left ads out bounds what began and stopped from below only, and from 0 not at all. */
export const countOn = (count: number, reliable: boolean): string => {
  if (reliable) return String(count);
  return count === 0 ? 'not known' : `at least ${count}`;
};

const sentenceOf = ({ date, seen }: Day): string => {
  if (seen === null) return `${shortDay(date)}: not observed`;
  const { active_ads, new_ads, retired_ads, reliable } = seen;
  const figures = `${active_ads} active, new: ${countOn(new_ads, reliable)}, stopped: ${countOn(retired_ads, reliable)}`;
  return `${shortDay(date)}: ${figures}${reliable ? '' : ' (not completely observed)'}`;
};

const [TOP, LINE_HEIGHT, BARS_HALF, GAP, SCANS_HEIGHT] = [22, 170, 34, 14, 14];
const LINE_BOTTOM = TOP + LINE_HEIGHT;
const BARS_MIDDLE = LINE_BOTTOM + GAP + BARS_HALF;
const BARS_BOTTOM = BARS_MIDDLE + BARS_HALF;
const SCANS = BARS_BOTTOM + GAP;
const BOTTOM = SCANS + SCANS_HEIGHT;
const HEIGHT = BOTTOM + 22;
/** Grid lines above zero. */
const STEPS_MAX = 4;
const BAR_SHARE = 0.6;
/** Days of a month that are named below the plot. */
const NAMED_DAYS = ['01', '15'];
/** Nearer to an edge, in days, a name would be cut. */
const NAME_MARGIN = 4;

const percent = (days: number): string => `${((days / PLOT_DAYS) * 100).toFixed(3)}%`;

const stepOf = (most: number): number => {
  const rough = Math.max(1, most / STEPS_MAX);
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
};

type Run = { readonly from: number; readonly length: number; readonly kind: string };

/** Days side by side of one kind; reliable days are of none. */
const shadedRuns = (days: readonly Day[]): readonly Run[] => {
  const runs: Run[] = [];
  for (const [index, { seen }] of days.entries()) {
    if (seen?.reliable === true) continue;
    const kind = seen === null ? 'unobserved' : 'incomplete';
    const last = runs.at(-1);
    if (last?.kind === kind && last.from + last.length === index) {
      runs[runs.length - 1] = { ...last, length: last.length + 1 };
    } else runs.push({ from: index, length: 1, kind });
  }
  return runs;
};

const gridOf = (step: number, top: number): readonly Html[] =>
  Array.from({ length: top / step + 1 }, (_, index) => {
    const y = LINE_BOTTOM - ((index * step) / top) * LINE_HEIGHT;
    return html`<line class="grid" x1="0" x2="100%" y1="${y}" y2="${y}"/><text x="2" y="${y - 4}">${index * step}</text>`;
  });

/** A gap of days is dashed: the line says nothing of them. */
const lineOf = (days: readonly Day[], top: number): readonly Html[] => {
  const points = days.flatMap(({ seen }, index) =>
    seen === null
      ? []
      : [{ index, y: LINE_BOTTOM - (seen.active_ads / top) * LINE_HEIGHT, reliable: seen.reliable }],
  );
  return points.map(({ index, y, reliable }, at) => {
    const before = points[at - 1];
    const isGap = before !== undefined && index - before.index > 1;
    const line =
      before === undefined
        ? null
        : html`<line class="${isGap ? 'active gap' : 'active'}" x1="${percent(before.index + 0.5)}" y1="${before.y}" x2="${percent(index + 0.5)}" y2="${y}"/>`;
    return html`${line}<circle class="${reliable ? 'point' : 'point open'}" cx="${percent(index + 0.5)}" cy="${y}" r="2.5"/>`;
  });
};

const barsOf = (days: readonly Day[]): readonly Html[] => {
  const most = Math.max(1, ...days.flatMap(({ seen }) => (seen ? [seen.new_ads, seen.retired_ads] : [])));
  return days.flatMap(({ seen }, index) => {
    if (seen === null) return [];
    const [up, down] = [seen.new_ads, seen.retired_ads].map((count) => (count / most) * BARS_HALF);
    const [x, width] = [percent(index + (1 - BAR_SHARE) / 2), percent(BAR_SHARE)];
    return [
      html`<rect class="new" x="${x}" width="${width}" y="${BARS_MIDDLE - (up ?? 0)}" height="${up ?? 0}"/>`,
      html`<rect class="stopped" x="${x}" width="${width}" y="${BARS_MIDDLE}" height="${down ?? 0}"/>`,
    ];
  });
};

const namesOf = (days: readonly Day[]): readonly Html[] =>
  days.flatMap(({ date }, index) =>
    NAMED_DAYS.includes(date.slice(-2)) && index >= NAME_MARGIN && index < PLOT_DAYS - NAME_MARGIN
      ? [html`<text class="name" x="${percent(index + 0.5)}" y="${HEIGHT - 5}">${shortDay(date)}</text>`]
      : [],
  );

const summaryOf = (days: readonly Day[]): string => {
  const seen = days.flatMap((day) => day.seen ?? []);
  const active = seen.map(({ active_ads }) => active_ads);
  const range =
    active.length === 0
      ? 'No day was observed.'
      : `Between ${Math.min(...active)} and ${Math.max(...active)} active ads.`;
  const reliable = seen.filter((one) => one.reliable).length;
  return `Daily activity from ${shortDay(days[0]?.date ?? '')} to ${shortDay(days.at(-1)?.date ?? '')}. ${range} Completely observed: ${reliable} of ${PLOT_DAYS} days.`;
};

const swatch = (shape: Html): Html =>
  html`<svg class="plot swatch" width="16" height="12" aria-hidden="true">${shape}</svg>`;

const LEGEND = html`<ul class="legend">
<li>${swatch(html`<line class="active" x1="0" x2="16" y1="6" y2="6"/>`)}Active ads</li>
<li>${swatch(html`<rect class="new" width="16" height="12"/>`)}New ads</li>
<li>${swatch(html`<rect class="stopped" width="16" height="12"/>`)}Confirmed stopped</li>
<li>${swatch(html`<circle class="scan" cx="8" cy="6" r="3"/>`)}Complete scans of all pages</li>
<li>${swatch(html`<rect fill="url(#unobserved)" width="16" height="12"/>`)}Not observed</li>
<li>${swatch(html`<rect fill="url(#incomplete)" width="16" height="12"/>`)}Not completely observed</li></ul>`;

/** The text of each day is shown while a pointer is over it. Assistive technology reads the summary, and the table of the page. */
export const activityPlot = (days: readonly Day[]): Html => {
  const most = Math.max(1, ...days.map(({ seen }) => seen?.active_ads ?? 0));
  const step = stepOf(most);
  const top = Math.ceil(most / step) * step;
  const latest = days.findLast(({ seen }) => seen !== null);
  return html`${LEGEND}<p class="readout" aria-hidden="true">${latest ? sentenceOf(latest) : 'No day was observed.'}</p>
<svg class="plot" role="img" aria-label="${summaryOf(days)}" width="100%" height="${HEIGHT}"><defs>
<pattern id="unobserved" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6"/><line y2="6"/></pattern>
<pattern id="incomplete" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6"/><line y2="6"/></pattern></defs>
${shadedRuns(days).map(
  ({ from, length, kind }) =>
    html`<rect class="shade" fill="url(#${kind})" x="${percent(from)}" width="${percent(length)}" y="0" height="${BOTTOM}"/>`,
)}${gridOf(step, top)}<line class="grid" x1="0" x2="100%" y1="${BARS_MIDDLE}" y2="${BARS_MIDDLE}"/>
${barsOf(days)}${lineOf(days, top)}${days.flatMap(({ seen }, index) =>
  seen?.reliable === true
    ? [html`<circle class="scan" cx="${percent(index + 0.5)}" cy="${SCANS + SCANS_HEIGHT / 2}" r="3"/>`]
    : [],
)}${namesOf(days)}${days.map(
  (day, index) =>
    html`<rect class="day" x="${percent(index)}" width="${percent(1)}" y="0" height="${BOTTOM}"><title>${sentenceOf(day)}</title></rect>`,
)}</svg>`;
};

type Row = { readonly name: string; readonly seen: Day['seen'] };

/** Newest first. Days side by side that no scan observed are one row. */
const rowsOf = (days: readonly Day[]): readonly Row[] => {
  const rows: Row[] = [];
  const unobserved = shadedRuns(days).filter(({ kind }) => kind === 'unobserved');
  for (const [index, { date, seen }] of days.entries()) {
    if (seen !== null) rows.push({ name: shortDay(date), seen });
    const run = unobserved.find(({ from }) => from === index);
    if (!run) continue;
    const last = days[index + run.length - 1]?.date ?? date;
    rows.push({ name: run.length === 1 ? shortDay(date) : `${shortDay(date)} to ${shortDay(last)}`, seen });
  }
  return rows.toReversed();
};

export const activityTable = (days: readonly Day[]): Html =>
  html`<details><summary>The same days as a table</summary><table><caption>Daily activity, UTC days, newest first</caption>
<thead><tr><th scope="col">Day</th><th scope="col">Active</th><th scope="col">New</th><th scope="col">Stopped</th><th scope="col">Observed</th></tr></thead><tbody>
${rowsOf(days).map(({ name, seen }) =>
  seen === null
    ? html`<tr><th scope="row">${name}</th><td colspan="3">–</td><td>not observed</td></tr>`
    : html`<tr><th scope="row">${name}</th><td>${seen.active_ads}</td><td>${countOn(seen.new_ads, seen.reliable)}</td><td>${countOn(seen.retired_ads, seen.reliable)}</td><td>${seen.reliable ? 'completely' : 'not completely'}</td></tr>`,
)}</tbody></table></details>`;
