import type {
  AdAttributed,
  AdObservationCorrected,
  Occurrence,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { occurrenceKey } from '#domain/workspace/alert/match-events.ts';
import type { BrandContext } from './brand-context.ts';
import type { PendingDigests } from './pending-digests.ts';

/**
 * A correction is never news. Withdrawn items leave unsent digests; an item added again with other details stays. A
 * page on which the ad runs is not a new partner later.
 */
export const applyCorrection = (
  { pendingDigests, logTime }: { readonly pendingDigests: PendingDigests; readonly logTime: string },
  brandContext: BrandContext,
  { type, data }: RecordedEvent<AdObservationCorrected | AdAttributed>,
): void => {
  const { brand_id } = data;
  if (type === 'AdObservationCorrected') {
    const keyOf = (one: Occurrence): string =>
      `${occurrenceKey(data.ad_id, one)}|${one.brand_id ?? brand_id}`;
    const stays = new Set(data.added.map(keyOf));
    for (const one of data.withdrawn) {
      if (!stays.has(keyOf(one))) pendingDigests.withdraw(occurrenceKey(data.ad_id, one), logTime);
    }
  } else if (brand_id !== data.to_brand_id) return;
  const { page_id } = type === 'AdObservationCorrected' ? data.after : data.ad;
  if (page_id === null) return;
  const page = brandContext.page(brand_id, page_id);
  if (!page.ran_ads) brandContext.setPage(brand_id, page_id, { ...page, ran_ads: true });
};
