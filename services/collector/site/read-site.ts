import type { BrandProfile } from '#contracts/observations/brand-profile.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { type DetectedTool, SiteScan } from '#contracts/observations/site-scan.ts';
import { HOUR_MS } from '#contracts/values/time.ts';
import { SITE_INTERVAL_HOURS } from '#application/collecting/target-states.ts';
import { imprintCompanyOf } from '#domain/shapes/imprint.ts';
import { legalNameOf, siteProfileOf } from '#domain/shapes/site-profile.ts';
import type { GetOutcome } from '#platform/http-client/polite-client.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { decodeHtml, isHtml, readPageSigns } from '../read-page-signs.ts';
import { type SpoolPage, readLastPages } from '../schedule/target-store.ts';
import type { ReadOutcome, Reading, SourceReader } from '../schedule/source-reader.ts';
import { type SitePage, choosePages, isHostOf } from './choose-pages.ts';
import type { ImprintStore } from './imprint-store.ts';
import type { ToolDetector } from './tools/tool-detector.ts';

/** Joined `Set-Cookie` headers split at commas, but the date of `Expires` has a comma too. */
const NEXT_COOKIE = /,\s*(?=[!#$%&'*+\-.^_`|~\w]+=)/;

/** Names in lower case. `header`: `Set-Cookie` headers joined by commas. */
export const cookiesOf = (header: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    header.split(NEXT_COOKIE).flatMap((cookie) => {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1).trim()] as const];
    }),
  );

export const SITE_SOURCE = 'site';
export const SITE_INTERVAL_MS = SITE_INTERVAL_HOURS * HOUR_MS;
/** A new version makes the collector read pages again. */
const COLLECTOR = 'site-signs-1';
/** Category of tools that compare page versions; their configuration is not read. */
const SPLIT_TESTING = 'A/B Testing';
const ACCEPT = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1';
const SERVER_ERRORS_FROM = 500;

export type SiteCursor = {
  readonly pages: readonly SitePage[];
  readonly next: number;
  readonly faults: readonly string[];
};

type ReadPage = {
  readonly collector: string;
  readonly url: string;
  readonly tools: readonly DetectedTool[];
  readonly isWhole: boolean;
  readonly profile: BrandProfile | null;
  readonly company: string | null;
  readonly chosen: readonly SitePage[];
};

type SiteReading = Reading<SiteCursor>;
type Answered = Extract<GetOutcome, { readonly kind: 'answered' }>;
type Readers = { readonly detector: Pick<ToolDetector, 'detect'>; readonly imprints: ImprintStore };

const nothing = (outcome: string, detail: string): ReadOutcome => ({
  kind: 'nothing',
  outcome,
  detail,
  notBeforeMs: null,
});

/** `null` unless this version read the same address before. */
const previousOf = async (
  { batch }: SiteReading,
  index: number,
  url: string,
): Promise<{ readonly spooled: SpoolPage; readonly page: ReadPage } | null> => {
  const spooled = await batch.previousPage(index);
  const page = spooled === null ? null : (JSON.parse(spooled.text) as ReadPage);
  return spooled !== null && page?.collector === COLLECTOR && page.url === url && page.isWhole
    ? { spooled, page }
    : null;
};

const readAnswer = async (
  { domain, batch, signal }: SiteReading,
  { detector }: Readers,
  { kind, url }: SitePage,
  answer: Answered,
): Promise<ReadPage> => {
  const { 'set-cookie': cookies = '', ...headers } = answer.headers;
  const html = decodeHtml(answer.body, headers['content-type'] ?? '');
  const page = { url: answer.url.href, html, headers, cookies: cookiesOf(cookies) };
  const { tools, isWhole } = await detector.detect(page, signal);
  const signs = readPageSigns(html);
  const isHome = kind === 'home';
  const observedAt = batch.startedAt.toISOString();
  return {
    collector: COLLECTOR,
    url,
    tools,
    isWhole,
    profile: isHome ? siteProfileOf(signs, { domain, pageUrl: answer.url.href, observedAt }) : null,
    company: legalNameOf(signs) ?? (kind === 'imprint' ? imprintCompanyOf(signs) : null),
    chosen: isHome ? choosePages(answer.url, signs.links) : [],
  };
};

const interruption = (domain: string, got: GetOutcome): ReadOutcome | null => {
  switch (got.kind) {
    case 'resting':
      return { kind: 'wait', outcome: 'refused', untilMs: got.untilMs, detail: got.reason };
    case 'failed':
      return { kind: 'wait', outcome: 'wait', untilMs: null, detail: got.reason };
    case 'forbidden':
      return nothing('forbidden', got.reason);
    case 'unchanged':
      return null;
    case 'answered': {
      const { status, url, headers, body } = got;
      if (status >= SERVER_ERRORS_FROM)
        return { kind: 'wait', outcome: 'wait', untilMs: null, detail: `answered ${status}` };
      if (!isHostOf(url.hostname, domain))
        return nothing('moved', `the site leads to ${url.hostname}; read that domain instead`);
      if (/^\/password\/?$/.test(url.pathname)) return nothing('closed', 'the shop asks for a password');
      if (status !== 200) return nothing('unreadable', `the home page answered ${status}`);
      return isHtml(headers['content-type'] ?? '', body)
        ? null
        : nothing('unreadable', 'the home page is not HTML');
    }
  }
};

const pageFault = (domain: string, { url, kind }: SitePage, got: GetOutcome): string | null => {
  if (got.kind === 'unchanged') return null;
  if (got.kind !== 'answered') return `${kind} page: ${got.reason}`;
  const { status, headers, body } = got;
  if (status !== 200) return `${kind} page: answered ${status}`;
  if (!isHostOf(got.url.hostname, domain)) return `${kind} page: leads to ${got.url.hostname}`;
  return isHtml(headers['content-type'] ?? '', body) ? null : `${kind} page: not HTML (${url.slice(0, 100)})`;
};

const readNext = async (
  reading: SiteReading,
  readers: Readers,
  cursor: SiteCursor,
): Promise<{ readonly cursor: SiteCursor } | { readonly outcome: ReadOutcome }> => {
  const { domain, batch, client, signal } = reading;
  const page = cursor.pages[cursor.next] as SitePage;
  const previous = await previousOf(reading, cursor.next, page.url);
  const got = await client.get(page.url, {
    signal,
    accept: ACCEPT,
    ...(previous === null ? {} : { validators: previous.spooled.validators }),
  });
  const next = { ...cursor, next: cursor.next + 1 };
  if (page.kind === 'home') {
    const outcome = interruption(domain, got);
    if (outcome !== null) return { outcome };
  } else {
    const fault = pageFault(domain, page, got);
    if (fault !== null) {
      const skipped = { ...next, faults: [...cursor.faults, fault] };
      await batch.commit(skipped, null);
      return { cursor: skipped };
    }
  }
  const commit = async (read: ReadPage, validators: SpoolPage['validators']) => {
    const committed = page.kind === 'home' ? { ...next, pages: [page, ...read.chosen] } : next;
    await batch.commit(committed, { page: cursor.next, text: JSON.stringify(read), validators });
    return { cursor: committed };
  };
  if (got.kind === 'answered') {
    const { etag = null, 'last-modified': lastModified = null } = got.headers;
    return commit(await readAnswer(reading, readers, page, got), { etag, lastModified });
  }
  if (previous === null) throw new Error(`${page.url} answered 304 to a request without a condition.`);
  return commit(previous.page, previous.spooled.validators);
};

const observe = async (
  { domain, batch }: SiteReading,
  { imprints }: Readers,
  { pages, next, faults }: SiteCursor,
): Promise<ReadOutcome> => {
  const read = (await batch.pages()).map(({ text }) => JSON.parse(text) as ReadPage);
  if (read.length === 0) return nothing('gave_up', 'the site could not be read');
  const observedAt = batch.startedAt.toISOString();
  const tools = [...new Map(read.flatMap((page) => page.tools).map((tool) => [tool.slug, tool])).values()];
  const complete = next >= pages.length && faults.length === 0 && read.every(({ isWhole }) => isWhole);
  const splitTesters = tools.filter(({ category }) => category === SPLIT_TESTING);
  const scan = SiteScan.parse({
    type: 'site.scan',
    domain,
    observed_at: observedAt,
    collector: COLLECTOR,
    complete,
    tools: tools.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)),
    split_test_tools: splitTesters.map(({ slug }) => ({ slug, readable: false })),
    split_tests: [],
  });
  const profile = read.find((page) => page.profile !== null)?.profile ?? null;
  const company = read.find((page) => page.company !== null)?.company ?? null;
  const records =
    company === null ? [] : await imprints.record({ domain, company, observedAt: batch.startedAt });
  const observations: Observation[] = [
    ...(profile === null ? [] : [{ ...profile, observed_at: observedAt }]),
    scan,
    ...records,
  ];
  const detail = [
    `${read.length} of ${pages.length} pages, ${tools.length} tools`,
    ...(profile === null ? ['no name is stated'] : []),
    ...(company === null ? [] : [`operated by ${company}`]),
    ...(read.every(({ isWhole }) => isWhole) ? [] : ['a page was not compared with all rules']),
    ...faults,
  ].join('; ');
  return { kind: 'read', observations, outcome: scan.complete ? 'complete' : 'partial', detail };
};

/** `null` when its last reading stated none, or there was none. */
export const readSiteName = async (database: Database, domain: string): Promise<string | null> => {
  const [home] = await readLastPages(database, SITE_SOURCE, domain);
  return home === undefined ? null : ((JSON.parse(home.text) as ReadPage).profile?.name ?? null);
};

/** Reads what a site states: profile, tools and company. */
export const createSiteReader = (readers: Readers): SourceReader => ({
  intervalMs: SITE_INTERVAL_MS,
  read: async (reading: SiteReading) => {
    const { domain, batch } = reading;
    let cursor: SiteCursor = batch.cursor ?? {
      pages: [{ kind: 'home', url: `https://${domain}/` }],
      next: 0,
      faults: [],
    };
    while (cursor.next < cursor.pages.length) {
      const step = await readNext(reading, readers, cursor);
      if ('outcome' in step) return step.outcome;
      ({ cursor } = step);
    }
    return observe(reading, readers, cursor);
  },
  giveUp: (reading: SiteReading) =>
    reading.batch.cursor === null
      ? Promise.resolve(nothing('gave_up', 'the site could not be read'))
      : observe(reading, readers, reading.batch.cursor),
});
