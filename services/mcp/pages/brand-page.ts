import type { z } from 'zod';
import type { Brand, DailyActivity } from '#contracts/resources/corpus/brand.ts';
import { type BrandCoverage, COVERAGE_DAYS } from '#contracts/resources/corpus/coverage.ts';
import type { RadarItem } from '#contracts/resources/workspace/radar.ts';
import type { TrackedBrandListItem } from '#contracts/resources/workspace/tracked-brand.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, utcDate } from '#contracts/values/time.ts';
import { WINDOW_DAYS, windowStart } from '#contracts/values/windows.ts';
import { omitUndefined } from '#operations/endpoint/omit-undefined.ts';
import type { Membership } from '#application/sign-in/member-directory.ts';
import { libraryUrl } from '#projections/ads/read.ts';
import { cleanText, type PastInput } from '../output/result.ts';
import { momentIn } from '../tools/parameters.ts';
import { PLOT_DAYS, activityPlot, activityTable, daysUntil, plural, shortDay } from './activity-plot.ts';
import { type Html, dayOf, html, pageOf, timeOf } from './layout.ts';

export const BRAND_STYLE = '/account/files/brand.css';
export const BRAND_SCRIPT = '/account/files/brand.js';
const STYLE = html`<link rel="stylesheet" href="${BRAND_STYLE}">`;
const HEAD = html`${STYLE}<script type="module" src="${BRAND_SCRIPT}"></script>`;

const SLUG_MAX_LENGTH = 100;

export const brandsPath = (workspaceId: string): string => `/account/workspaces/${workspaceId}/brands`;
/** The id stands for a slug that is longer than a path parameter may be. */
const brandPath = (
  workspaceId: string,
  { slug, id }: { readonly slug: string; readonly id: string },
): string => `${brandsPath(workspaceId)}/${slug.length > SLUG_MAX_LENGTH ? id : slug}`;

type TrackedBrand = z.infer<typeof TrackedBrandListItem>;

const brandRow = (workspaceId: string, { brand, freshness }: TrackedBrand): Html => {
  const { name, domain, category, active_ads, new_ads_7d } = brand;
  const at = freshness.as_of;
  return html`<tr><th scope="row"><a href="${brandPath(workspaceId, brand)}"><bdi>${cleanText(name)}</bdi></a> <span class="muted">${domain}</span></th>
<td>${category === null ? '–' : html`<bdi>${cleanText(category.name)}</bdi>`}</td>
<td>${at === null ? '–' : html`${active_ads.toLocaleString('en')} <span class="muted">${new_ads_7d} new in 7 days</span>`}</td>
<td>${at === null ? 'not scanned yet' : html`<time datetime="${at}">${timeOf(new Date(at))}</time>`}</td></tr>`;
};

export const brandsPage = (
  { workspaceId, workspaceName }: Membership,
  tracked: readonly TrackedBrand[],
  nextPath: string | null,
): string =>
  pageOf(
    'Tracked brands',
    html`<p class="muted">Workspace <bdi>${workspaceName}</bdi></p>${
      tracked.length === 0
        ? html`<p>No brand is tracked here. An assistant, or the API, tracks a brand for the workspace.</p>`
        : html`<table class="panel"><caption>Newest tracked first</caption>
<thead><tr><th scope="col">Brand</th><th scope="col">Category</th><th scope="col">Active ads</th><th scope="col">Last observed</th></tr></thead><tbody>
${tracked.map((one) => brandRow(workspaceId, one))}</tbody></table>`
    }${nextPath === null ? null : html`<p><a href="${nextPath}">Show more brands</a></p>`}
<p><a href="/account">Back to your account</a></p>`,
    STYLE,
  );

/** A brand as observed by a moment. */
export type KnownBrand = {
  readonly brand: z.infer<typeof Brand>;
  readonly activity: readonly z.infer<typeof DailyActivity>[];
  readonly radar: readonly z.infer<typeof RadarItem>[];
  readonly cursor: string | null;
  /** `null` for a past moment: coverage says what is known now. */
  readonly coverage: z.infer<typeof BrandCoverage> | null;
  readonly past: { readonly events: number; readonly late: number } | null;
};

export type BrandPage = {
  readonly membership: Membership;
  /** The brand as it is now; the page names it so at each moment. */
  readonly brand: z.infer<typeof Brand>;
  /** Time of the first observation of the brand. */
  readonly firstObservedAt: Date;
  readonly now: Date;
  /** Empty: now. */
  readonly moments: PastInput;
  readonly isTracked: boolean;
  /** The reason, when the moment has no answer. */
  readonly known: KnownBrand | string;
};

/** Units of the slider: at least this many of them must have passed. */
const POSITIONS_MIN = 21;
const UNITS_MS = [DAY_MS, HOUR_MS, MINUTE_MS];

const SECOND = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium', timeZone: 'UTC' });

/** As the script writes the positions of the slider. */
const momentText = (time: Date, unitMs: number): string =>
  unitMs < MINUTE_MS ? `${SECOND.format(time)} UTC` : timeOf(time);

/** `null`: now. The slider chooses a moment of observation. */
const momentOf = ({ moments: { as_of, observed_as_of } }: BrandPage): Date | null => {
  const time = observed_as_of ?? as_of;
  return time === undefined ? null : new Date(time);
};

/** The last position is now. */
const positionsOf = (page: BrandPage) => {
  const { firstObservedAt, now } = page;
  const moment = momentOf(page);
  const [first, last] = [firstObservedAt.getTime(), now.getTime()];
  const unitMs = UNITS_MS.find((ms) => last - first >= POSITIONS_MIN * ms) ?? SECOND_MS;
  const [min, max] = [Math.ceil(first / unitMs), Math.ceil(last / unitMs)];
  const value = moment === null ? max : Math.min(Math.max(Math.round(moment.getTime() / unitMs), min), max);
  return { unitMs, min, max, value };
};

const basisOf = (page: BrandPage): string => {
  const { moments, known } = page;
  const { as_of, observed_as_of } = moments;
  if (momentIn(moments) === undefined) return 'All that is known now.';
  const { unitMs } = positionsOf(page);
  const textOf = (sense: string, time?: string): readonly string[] =>
    time === undefined ? [] : [`${sense} ${momentText(new Date(time), unitMs)}`];
  const then = `As ${[...textOf('known at', as_of), ...textOf('observed by', observed_as_of)].join(' and ')}`;
  if (typeof known === 'string') return `${then}: ${known}.`;
  if (known.past === null) return `${then}.`;
  const { events, late } = known.past;
  const verb =
    observed_as_of === undefined ? `; ${late} more were observed by then and` : `, ${late} of them`;
  return `${then}: rests on ${plural(events, 'event')}${late === 0 ? '' : `${verb} recorded only later`}.`;
};

const sliderOf = (page: BrandPage, path: string): Html => {
  const { unitMs, min, max, value } = positionsOf(page);
  const moment = momentOf(page);
  const shown = moment === null ? 'now' : momentText(moment, unitMs);
  const { as_of, observed_as_of } = page.moments;
  const sense = as_of !== undefined && observed_as_of === undefined ? 'known at' : 'observed by';
  return html`<form id="moment" class="panel" method="get" action="${path}" data-unit-ms="${unitMs}">
<p class="moment"><label for="slider">As <span id="sense">${sense}</span></label> <strong id="position">${shown}</strong><a class="button" id="now" href="${path}">Now</a></p>
<input id="slider" type="range" min="${min}" max="${max}" value="${value}" aria-valuetext="${shown}" aria-describedby="ends" disabled>
<p class="ends muted" id="ends"><span>${momentText(page.firstObservedAt, unitMs)}: first observed</span> <span>now</span></p>
<p id="basis" role="status">${basisOf(page)}</p>
<noscript><label class="field" for="at">Moment, in UTC</label><input type="text" id="at" name="observed_as_of" value="${(moment ?? page.now).toISOString()}"><button>Show</button></noscript>
<p class="fault" role="alert" hidden><span></span> <button type="button">Try again</button></p></form>`;
};

/** `null` for what was not observed. */
const tile = (label: string, figure: number | null, note: string): Html =>
  html`<div class="tile"><dt>${label}</dt><dd><strong>${figure === null ? '–' : figure.toLocaleString('en')}</strong> <span class="muted">${note}</span></dd></div>`;

/** Windows end with the last scan, as those of the figures. */
const tilesOf = ({ brand, activity }: KnownBrand): Html => {
  const since = windowStart(brand.as_of, WINDOW_DAYS.month);
  const reliable = activity.filter((one) => one.reliable && one.date >= since).length;
  const others = reliable === WINDOW_DAYS.month ? '' : ' The others may hold more.';
  if (activity.length === 0 && brand.total_ads === 0)
    return html`<dl class="tiles">${tile('Active ads', null, 'No scan has observed the brand by then.')}</dl>`;
  const window = `Completely observed: ${reliable} of these days.${others}`;
  return html`<dl class="tiles">
${tile('Active ads', brand.active_ads, 'Not confirmed stopped. An ad not seen is not an ad stopped.')}
${tile(`New in ${WINDOW_DAYS.month} days`, brand.new_ads_30d, window)}
${tile(`Stopped in ${WINDOW_DAYS.month} days`, brand.retired_ads_30d, 'As the library says, or absent from two complete scans.')}
${tile('Ads ever observed', brand.total_ads, `${brand.inactive_ads.toLocaleString('en')} of them confirmed stopped.`)}</dl>`;
};

const coverageOf = ({
  pages,
  pages_total,
  reliable_days,
  incomplete_scans,
}: z.infer<typeof BrandCoverage>) => {
  const scanned = pages.filter(({ complete_scans }) => complete_scans.length > 0).length;
  const times = pages.flatMap(({ complete_scans }) => complete_scans.map(({ scanned_at }) => scanned_at));
  const last = times.toSorted().at(-1);
  return `Pages linked to the brand: ${pages_total}, completely scanned: ${scanned}${
    last === undefined ? '' : `, last on ${timeOf(new Date(last))}`
  }. Completely observed: ${reliable_days.count} of the last ${COVERAGE_DAYS} days. Scans that left ads out: ${incomplete_scans.count}.`;
};

type Item = z.infer<typeof RadarItem>;

const FORMAT_WORDS: Readonly<Record<Item['ad']['format'], string>> = {
  video: 'Video',
  image: 'Image',
  carousel: 'Carousel',
  dco: 'Dynamic creative',
  other: 'Ad',
};
const TYPE_WORDS: Readonly<Record<Item['type'], string>> = {
  ad_started: 'New ad',
  ad_stopped: 'Stopped',
  destination_changed: 'New destination',
};
const CORRECTION_WORDS: Readonly<Record<NonNullable<Item['correction']>, string>> = {
  withdrawn: 'Withdrawn: a scan that arrived late shows that it was not so.',
  added: 'Added by a scan that arrived late.',
  changed: 'Corrected by a scan that arrived late.',
};

const hostOf = (link: string): string => cleanText(URL.parse(link)?.host ?? link);

/** Other links, such as those of app stores, are text. */
const destinationOf = (link: string): Html =>
  /^https?:\/\//i.test(link)
    ? html`<a href="${link}" rel="noopener noreferrer nofollow"><bdi>${hostOf(link)}</bdi></a>`
    : html`<bdi>${cleanText(link)}</bdi>`;

const reasonOf = ({ type, ad, basis, stopped_on, previous_destination_url: before }: Item): Html | null => {
  if (type === 'ad_started')
    return ad.started_on === null ? null : html`<p>Began on ${dayOf(new Date(ad.started_on))}.</p>`;
  if (type === 'destination_changed')
    return before === null ? null : html`<p>Led to <bdi>${hostOf(before)}</bdi> before.</p>`;
  if (basis === 'absence') return html`<p>Two complete scans did not show it.</p>`;
  return html`<p>The library says that it stopped${stopped_on === null ? '' : ` on ${dayOf(new Date(stopped_on))}`}.</p>`;
};

const cardOf = (workspaceId: string, item: Item): Html => {
  const { type, ad, observed_at, destination_url: destination, correction } = item;
  const picture = `/account/workspaces/${workspaceId}/ads/${ad.id}/picture`;
  const title = cleanText(ad.title ?? '') || `Ad ${ad.id}`;
  return html`<li class="card ${type}"><div class="picture"><span>${FORMAT_WORDS[ad.format]}</span><img src="${picture}" alt="Picture of the ad" loading="lazy" width="320" height="320"></div>
<div class="text"><p><span class="badge">${TYPE_WORDS[type]}</span> <time class="muted" datetime="${observed_at}">${shortDay(observed_at)}</time></p>
<h3><bdi>${title}</bdi></h3>${ad.body === null ? null : html`<p class="body"><bdi>${cleanText(ad.body)}</bdi></p>`}${reasonOf(item)}${
    correction === null ? null : html`<p class="warning">${CORRECTION_WORDS[correction]}</p>`
  }<p class="links">${destination === null ? null : html`Leads to ${destinationOf(destination)}. `}<a href="${libraryUrl(ad.id)}" rel="noopener noreferrer" aria-label="In the ad library: ${title}">In the ad library</a></p></div></li>`;
};

const NOTHING_LISTED =
  'No change is listed. Changes are listed of days on which the workspace tracked the brand, and not of what was not looked at.';
const NOT_TRACKED =
  'No change is listed, because this workspace does not track the brand. Once an assistant, or the API, tracks it, changes are listed from then on.';

const radarOf = (
  { membership, moments, isTracked }: BrandPage,
  { radar, cursor }: KnownBrand,
  path: string,
): Html => {
  const query = new URLSearchParams({ ...omitUndefined(moments), cursor: cursor ?? '' });
  return html`<section class="panel" id="radar"><h2>What changed</h2><p class="muted">Newest first, in the ${PLOT_DAYS} days up to the last scan, while the workspace tracks the brand.</p>${
    radar.length === 0
      ? html`<p>${isTracked ? NOTHING_LISTED : NOT_TRACKED}</p>`
      : html`<ul class="cards">${radar.map((item) => cardOf(membership.workspaceId, item))}</ul>`
  }${cursor === null ? null : html`<p><a class="button" href="${path}?${query.toString()}#radar">Show older changes</a></p>`}</section>`;
};

const knownOf = (page: BrandPage, known: KnownBrand, path: string): Html => {
  // A day that has just begun is not one of the plot.
  const last = new Date(Date.parse(momentIn(page.moments) ?? page.now.toISOString()) - 1);
  const days = daysUntil(utcDate(last.toISOString()), known.activity);
  return html`${tilesOf(known)}<section class="panel"><h2>Daily activity</h2>${activityPlot(days)}${activityTable(days)}${
    known.coverage === null ? null : html`<p class="muted">${coverageOf(known.coverage)}</p>`
  }</section>${radarOf(page, known, path)}`;
};

/** Without its script the page shows the same; the moment is then written in a field. */
export const brandPage = (page: BrandPage): string => {
  const { brand, membership, known } = page;
  const path = brandPath(membership.workspaceId, brand);
  return pageOf(
    cleanText(brand.name),
    html`<p class="muted"><a href="https://${brand.domain}/" rel="noopener noreferrer nofollow">${brand.domain}</a>${
      brand.category === null ? null : html` · <bdi>${cleanText(brand.category.name)}</bdi>`
    } · <a href="${brandsPath(membership.workspaceId)}">All brands of <bdi>${membership.workspaceName}</bdi></a></p>
${sliderOf(page, path)}
<div id="known">${typeof known === 'string' ? null : knownOf(page, known, path)}</div>`,
    HEAD,
  );
};
