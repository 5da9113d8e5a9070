import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { SocialPageLink } from '#contracts/observations/social-page-link.ts';
import { SECOND_MS } from '#contracts/values/time.ts';
import {
  LINKED_CONFIDENCE,
  PROPOSED_CONFIDENCE,
  type PageProposal,
} from '#domain/collecting/propose-pages.ts';
import { pause } from '#platform/clock.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { readLinkedPageIds } from '#projections/social-pages/read.ts';
import { publishObservations } from '#application/observations/publish-observations.ts';
import { ARCHIVE_SOURCE } from '../ads-archive/archive-batch-store.ts';
import { recordWish } from '../schedule/target-store.ts';
import type { AddContext } from './add-context.ts';
import { isArchiveRead } from './archive-leader.ts';
import { type StoredProposal, listProposals, saveLinked } from './page-proposal-store.ts';
import { NO_READER } from './sentences.ts';

/** Maximum wait until the read model shows a link. */
const SHOWN_WAIT_MS = 30 * SECOND_MS;
const LOOK_MS = 100;

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
    await pause(LOOK_MS, signal);
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
