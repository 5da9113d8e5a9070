import { domainToUnicode } from 'node:url';
import { MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';
import { planArchive } from '#application/collecting/plan-archive.ts';
import { appsOf } from '#application/collecting/plan-sources.ts';
import { callsOf } from '#domain/collecting/pack-batches.ts';
import { proposePages } from '#domain/collecting/propose-pages.ts';
import { pause } from '#platform/clock.ts';
import { listTargets } from '#application/collecting/list-targets.ts';
import { Refusal } from '#contracts/errors.ts';
import { ObservedDomain } from '#contracts/values/primitives.ts';
import type { PacedAccount } from '../ads-archive/paced-account.ts';
import { ARCHIVE_SOURCE } from '../ads-archive/archive-batch-store.ts';
import { readTargetNow } from '../schedule/run-targets.ts';
import { recordWish } from '../schedule/target-store.ts';
import { SITE_SOURCE, readSiteName } from '../site/read-site.ts';
import type { AddContext } from './add-context.ts';
import { isArchiveRead } from './archive-leader.ts';
import { proposedLinks, publishLinks } from './link-pages.ts';
import { type StoredProposal, listProposals, saveProposals } from './page-proposal-store.ts';
import { searchPages } from './search-pages.ts';
import { NO_ADS, NO_READER } from './sentences.ts';

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
