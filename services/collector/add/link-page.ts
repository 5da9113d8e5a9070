import { ARCHIVE_SOURCE } from '../ads-archive/archive-batch-store.ts';
import { recordWish } from '../schedule/target-store.ts';
import type { AddContext } from './add-context.ts';
import { isArchiveRead } from './archive-leader.ts';
import { publishLinks } from './link-pages.ts';
import { listProposals, saveLinked, type StoredProposal } from './page-proposal-store.ts';
import { NO_READER } from './sentences.ts';

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
