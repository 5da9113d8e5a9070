import { domainToUnicode } from 'node:url';
import { WHOLE, leaseOwnerSql } from '#platform/postgres/lease/leases.ts';
import type { Database } from '#platform/postgres/pool.ts';
import {
  type FoundAd,
  LINKED_CONFIDENCE,
  PROPOSED_CONFIDENCE,
  type PageProposal,
  proposePages,
} from '#domain/collecting/propose-pages.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { SocialPageLink } from '#contracts/observations/social-page-link.ts';
import { MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';
import { pause } from '#platform/clock.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { readLinkedPageIds } from '#projections/social-pages/read.ts';
import { publishObservations } from '#application/observations/publish-observations.ts';
import { cutTrimmedText } from '#contracts/values/text.ts';
import { type JsonObject, isObject } from '#domain/shapes/json-object.ts';
import { appsOf, planArchive } from '#application/collecting/plan-sources.ts';
import { callsOf } from '#domain/collecting/pack-batches.ts';
import { listTargets } from '#application/collecting/target-states.ts';
import { Refusal } from '#contracts/errors.ts';
import { ObservedDomain } from '#contracts/values/primitives.ts';
import { ARCHIVE_LEADER } from '../ads-archive/archive-runner.ts';
import { ARCHIVE_SOURCE } from '../ads-archive/archive-batch-store.ts';
import { recordWish } from '../schedule/target-store.ts';
import { type AddContext, NO_ADS, NO_READER } from './add-context.ts';
import type { AccountAnswer, PacedAccount } from '../ads-archive/paced-account.ts';
import { readTargetNow } from '../schedule/run-targets.ts';
import { SITE_SOURCE, readSiteName } from '../site/read-site.ts';

export const isArchiveRead = async (database: Database): Promise<boolean> => {
  const found = await database.query<{ found: boolean }>(
    `select to_regclass('run.lease') is not null as found`,
  );
  if (found.rows[0]?.found !== true) return false;
  const { rows } = await database.query<{ owner: string | null }>(
    `select ${leaseOwnerSql('$1', '$2')} as owner`,
    [ARCHIVE_LEADER, WHOLE],
  );
  return rows[0]?.owner != null;
};

export type ProposalState = 'linked' | 'quarantined';
export type StoredProposal = Omit<PageProposal, 'isCertain'> & { readonly state: ProposalState };

type Row = {
  readonly social_page_id: string;
  readonly page_name: string | null;
  readonly ads: number;
  readonly state: ProposalState;
};

export const saveProposals = async (
  database: Database,
  domain: string,
  proposals: readonly PageProposal[],
  now: Date,
): Promise<void> => {
  await database.query(
    `insert into collecting.page_proposal as p (domain, social_page_id, page_name, ads, state, proposed_at)
     select $1, social_page_id, page_name, ads, state, $6
     from unnest($2::text[], $3::text[], $4::int[], $5::text[]) as i (social_page_id, page_name, ads, state)
     on conflict (domain, social_page_id) do update set page_name = coalesce(excluded.page_name, p.page_name),
       ads = excluded.ads, state = case when p.state = 'linked' then p.state else excluded.state end,
       proposed_at = excluded.proposed_at`,
    [
      domain,
      proposals.map(({ pageId }) => pageId),
      proposals.map(({ pageName }) => pageName),
      proposals.map(({ ads }) => ads),
      proposals.map(({ isCertain }) => (isCertain ? 'linked' : 'quarantined')),
      now,
    ],
  );
};

export const listProposals = async (
  database: Database,
  domain: string,
): Promise<readonly StoredProposal[]> => {
  const { rows } = await database.query<Row>(
    `select social_page_id, page_name, ads, state from collecting.page_proposal where domain = $1
     order by ads desc, social_page_id`,
    [domain],
  );
  return rows.map(({ social_page_id: pageId, page_name: pageName, ads, state }) => ({
    pageId,
    pageName,
    ads,
    state,
  }));
};

export const saveLinked = async (
  database: Database,
  domain: string,
  pageId: string,
  now: Date,
): Promise<void> => {
  await database.query(
    `insert into collecting.page_proposal (domain, social_page_id, ads, state, proposed_at) values ($1, $2, 0, 'linked', $3)
     on conflict (domain, social_page_id) do update set state = 'linked'`,
    [domain, pageId, now],
  );
};

/** Maximum wait until the read model shows a link. */
const SHOWN_WAIT_MS = 30 * SECOND_MS;
const SHOWN_POLL_MS = 100;

/** Certain pages are linked. All others are quarantined until an operator links them. */
export const proposedLinks = (
  domain: string,
  proposals: readonly PageProposal[],
  observedAt: string,
): readonly SocialPageLink[] =>
  proposals.map(({ pageId, pageName, isCertain }) =>
    SocialPageLink.parse({
      type: 'social_page.link',
      brand_domain: domain,
      page_id: pageId,
      page_name: pageName,
      observed_at: observedAt,
      role: isCertain ? 'OFFICIAL' : 'UNVERIFIED',
      confidence: isCertain ? LINKED_CONFIDENCE : PROPOSED_CONFIDENCE,
      linked: true,
      quarantined: !isCertain,
    }),
  );

/** Waits for the read model. Returns false on timeout: then `ingest` or the projector is not running. */
export const publishLinks = async (
  { nats, db }: { readonly nats: Pick<Nats, 'jetstream'>; readonly db: ReadDatabase },
  domain: string,
  links: readonly SocialPageLink[],
  signal: AbortSignal,
): Promise<boolean> => {
  await publishObservations(nats, links);
  const expected = links.filter(({ quarantined }) => quarantined !== true).map(({ page_id }) => page_id);
  if (expected.length === 0) return true;
  const deadline = Date.now() + SHOWN_WAIT_MS;
  for (;;) {
    const shown = await readLinkedPageIds(db, [domain]).catch(() => new Map<string, readonly string[]>());
    if (expected.every((id) => shown.get(domain)?.includes(id) === true)) return true;
    if (Date.now() > deadline) return false;
    await pause(SHOWN_POLL_MS, signal);
    signal.throwIfAborted();
  }
};

const DECIDED_CONFIDENCE = 1;

/** Links by an operator's decision, and requests the ads if a token is stored. Returns the proposed pages. */
export const linkPage = async (
  context: AddContext,
  domain: string,
  pageId: string,
): Promise<readonly StoredProposal[]> => {
  const { runner, cadence, progress, signal } = context;
  const { database, clock } = runner;
  const known = (await listProposals(database, domain)).find((page) => page.pageId === pageId);
  const link = {
    type: 'social_page.link',
    brand_domain: domain,
    page_id: pageId,
    page_name: known?.pageName ?? null,
    observed_at: clock.now().toISOString(),
    role: 'OFFICIAL',
    confidence: DECIDED_CONFIDENCE,
    linked: true,
    quarantined: false,
  } as const;
  const isShown = await publishLinks(context, domain, [link], signal);
  await saveLinked(database, domain, pageId, clock.now());
  if (!isShown) progress('The link is sent, but not shown yet: start ingest and the projector.');
  if (await context.hasToken()) {
    const wish = { source: ARCHIVE_SOURCE, domain, cadence, at: clock.now(), isUrgent: true };
    await recordWish(database, wish);
    if (!(await isArchiveRead(database))) progress(NO_READER);
  }
  return listProposals(database, domain);
};

const ANSWERS_MAX = 4;
const ANSWER_ADS = 250;
const TRIES_MAX = 3;
const TRY_FIRST_MS = 10 * SECOND_MS;

const PAGE_NAME_MAX_LENGTH = 500;

export type PageSearch = {
  readonly account: Pick<PacedAccount, 'call'>;
  readonly countries: readonly string[];
  /** Ends at once on abort. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
};

export type SearchResult = {
  readonly ads: readonly FoundAd[];
  readonly calls: number;
  /** `null` when all replies were read. */
  readonly fault: string | null;
  readonly isCut: boolean;
};

const PageName = cutTrimmedText(PAGE_NAME_MAX_LENGTH);

const textsAt = (value: JsonObject, key: string): readonly string[] => {
  const list = value[key];
  return Array.isArray(list) ? list.filter((text) => typeof text === 'string') : [];
};

const foundAd = (row: unknown): FoundAd | null => {
  if (!isObject(row)) return null;
  const { id, page_id: pageId, page_name: pageName } = row;
  const isId = typeof id === 'string' && typeof pageId === 'string' && /^[1-9]\d{4,19}$/.test(pageId);
  if (!isId) return null;
  const name = PageName.safeParse(pageName);
  return {
    adId: id,
    pageId,
    pageName: name.success ? name.data : null,
    captions: textsAt(row, 'ad_creative_link_captions'),
  };
};

const callWithTries = async (
  { account, countries, wait, signal }: PageSearch,
  phrase: string,
  after: string | null,
): Promise<{ readonly answer: AccountAnswer; readonly tries: number }> => {
  let limit = ANSWER_ADS;
  for (let tries = 1; ; tries += 1) {
    const answer = await account.call({ phrase, countries, limit, after }, signal);
    if (answer.kind === 'reduce') limit = Math.max(Math.floor(limit / 2), 10);
    else if (answer.kind !== 'fault') return { answer, tries };
    if (tries === TRIES_MAX) return { answer, tries };
    if (answer.kind === 'fault') await wait(TRY_FIRST_MS * 2 ** (tries - 1), signal);
    signal.throwIfAborted();
  }
};

export const searchPages = async (search: PageSearch, phrases: readonly string[]): Promise<SearchResult> => {
  const ads = new Map<string, FoundAd>();
  let calls = 0;
  let isCut = false;
  for (const phrase of phrases) {
    let after: string | null = null;
    for (let answers = 0; ; answers += 1) {
      if (answers === ANSWERS_MAX) {
        isCut = true;
        break;
      }
      const { answer, tries } = await callWithTries(search, phrase, after);
      calls += tries;
      if (answer.kind !== 'page') return { ads: [...ads.values()], calls, fault: answer.detail, isCut };
      for (const ad of answer.ads.map(foundAd)) if (ad !== null) ads.set(ad.adId, ad);
      ({ after } = answer);
      if (answer.ads.length === 0 || after === null) break;
    }
  }
  return { ads: [...ads.values()], calls, fault: null, isCut };
};

const READ_AT_ONCE = [SITE_SOURCE, 'storefront'];
/** Maximum wait for another process that reads the target. */
const OTHER_READER_WAIT_MS = 10 * MINUTE_MS;
const LOOK_MS = SECOND_MS;

export type ReadSource = { readonly source: string; readonly outcome: string; readonly detail: string };

export type AddedBrand = {
  readonly domain: string;
  readonly name: string | null;
  readonly sources: readonly ReadSource[];
  readonly pages: readonly StoredProposal[];
  /** Calls of the first scan of the ads; `null` when none is planned. */
  readonly calls: number | null;
  /** Days of a round of all tracked brands; `null` when unknown. */
  readonly daysARound: number | null;
  /** Findings and next steps, in whole sentences. */
  readonly notes: readonly string[];
};

const readSource = async (
  { runner, progress, signal }: AddContext,
  source: string,
  domain: string,
): Promise<ReadSource> => {
  const { database, clock } = runner;
  const since = clock.now();
  const deadline = Date.now() + OTHER_READER_WAIT_MS;
  progress(`Reading the ${source} of ${domain}; requests to a host are 5 s apart.`);
  for (let looks = 0; ; looks += 1) {
    const isRead = await readTargetNow({ ...runner, signal }, source, domain);
    signal.throwIfAborted();
    const all = await listTargets(database, clock.now(), { domain, limit: 20 });
    const target = all.find((one) => one.source === source);
    if (target?.paused != null) {
      const detail = `${target.paused}; end it with: collect resume ${domain}`;
      return { source, outcome: 'paused', detail };
    }
    const isTried = target?.tried_at != null && new Date(target.tried_at) >= since;
    // The lease of a killed process ends within a minute. Then this command reads the target.
    const mayBeRead = target?.states.some((state) => state === 'in_flight' || state === 'due') === true;
    if (target === undefined || isRead || isTried || !mayBeRead || Date.now() > deadline) {
      return {
        source,
        outcome: target?.outcome ?? 'unknown',
        detail: target?.detail ?? 'it was not read yet',
      };
    }
    if (looks === 0) progress(`Another process reads the ${source} of ${domain}. Waiting for it.`);
    await pause(LOOK_MS, signal);
    signal.throwIfAborted();
  }
};

type Found = Pick<AddedBrand, 'pages' | 'calls' | 'daysARound' | 'notes'>;

const findPages = async (
  context: AddContext,
  account: Pick<PacedAccount, 'call'>,
  { domain, name }: Pick<AddedBrand, 'domain' | 'name'>,
): Promise<Found> => {
  const { runner, countries, callsPerHour, cadence, progress, wait, signal } = context;
  const { database, clock } = runner;
  // Advertisers type their domain in its own script.
  const phrases = [...new Set([domain, domainToUnicode(domain), ...(name === null ? [] : [name])])];
  progress(`Searching the library API for ${phrases.map((phrase) => `"${phrase}"`).join(' and ')}.`);
  const { ads, calls, fault, isCut } = await searchPages({ account, countries, wait, signal }, phrases);
  const proposals = proposePages(ads, { domain, name });
  progress(`${calls} calls found ${ads.length} ads, and ${proposals.length} pages with ads for ${domain}.`);
  const now = clock.now();
  await saveProposals(database, domain, proposals, now);
  const links = proposedLinks(domain, proposals, now.toISOString());
  const isShown = await publishLinks(context, domain, links, signal);
  const pages = await listProposals(database, domain);
  const certain = proposals.filter(({ isCertain }) => isCertain);
  const isLinked = pages.some(({ state }) => state === 'linked');
  if (isLinked) {
    const wish = { source: ARCHIVE_SOURCE, domain, cadence, at: clock.now(), isUrgent: true };
    await recordWish(database, wish);
  }
  const plan = isLinked
    ? await planArchive(database, now, callsPerHour * (await appsOf(database, now)))
    : null;
  const doubted = pages.filter(({ state }) => state === 'quarantined').length;
  return {
    pages,
    calls: isLinked ? Math.ceil(callsOf({ ads: certain.reduce((sum, page) => sum + page.ads, 0) })) : null,
    daysARound: plan === null ? null : Math.round(plan.daysPerRound * 1_000) / 1_000,
    notes: [
      ...(fault === null ? [] : [`The search did not end: ${fault}. Repeat the command later.`]),
      ...(isCut ? ['The search had more answers than are read; pages with few ads may be missing.'] : []),
      ...(fault === null && proposals.length === 0 ? [NO_ADS(domain)] : []),
      ...(isShown ? [] : ['The links are sent, but not shown yet: start ingest and the projector.']),
      ...(doubted === 0
        ? []
        : [`${doubted} pages need your decision. Link one with: collect link ${domain} PAGE_ID`]),
      ...(isLinked && !(await isArchiveRead(database)) ? [NO_READER] : []),
    ],
  };
};

export const addBrand = async (context: AddContext, domain: string): Promise<AddedBrand> => {
  const { runner, cadence, sources, openAccount } = context;
  const at = runner.clock.now();
  for (const source of sources.filter((one) => one !== ARCHIVE_SOURCE)) {
    await recordWish(runner.database, { source, domain, cadence, at, isUrgent: true });
  }
  const read: ReadSource[] = [];
  for (const source of READ_AT_ONCE.filter((one) => sources.includes(one))) {
    read.push(await readSource(context, source, domain));
  }
  const name = context.name ?? (await readSiteName(runner.database, domain));
  const account = await openAccount();
  const found: Found =
    typeof account === 'string'
      ? { pages: [], calls: null, daysARound: null, notes: [account] }
      : await findPages(context, account, { domain, name });
  return { domain, name, sources: read, ...found };
};

/** Throws `Refusal('invalid_input')`. */
export const brandDomain = (text: string): string => {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  const domain = url?.hostname.toLowerCase().replace(/^www\./, '');
  const parsed = ObservedDomain.safeParse(domain);
  if (parsed.success && url?.username === '') return parsed.data;
  throw new Refusal('invalid_input', `${text} is no domain of a brand. Write it as shop.example.`);
};
