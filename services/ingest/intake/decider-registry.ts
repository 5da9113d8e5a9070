import { brandStream } from '#contracts/events/corpus/brand.ts';
import { categoryStream } from '#contracts/events/corpus/category.ts';
import { creativeStream } from '#contracts/events/corpus/creative.ts';
import type { Event } from '#contracts/events/event.ts';
import { landingPageStream } from '#contracts/events/corpus/landing-page.ts';
import { operatorStream } from '#contracts/events/corpus/operator.ts';
import { socialPageStream } from '#contracts/events/corpus/social-page.ts';
import { trafficStream } from '#contracts/events/corpus/traffic.ts';
import { siteStream } from '#contracts/events/corpus/site.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { brand, recordBrandProfile } from '#domain/corpus/brand.ts';
import { category, defineCategory } from '#domain/corpus/category.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { operator, operatorIdOf, recordOperator } from '#domain/corpus/operator.ts';
import { recordSiteScan } from '#domain/corpus/site/decider.ts';
import { site } from '#domain/corpus/site/state.ts';
import { recordPageLink, recordPageProfile, socialPage } from '#domain/corpus/social-page.ts';
import { recordTrafficEstimate, traffic } from '#domain/corpus/traffic.ts';
import {
  addressOf,
  landingPage,
  recordPageClassification,
  recordPageScrape,
} from '#domain/corpus/landing-page.ts';
import { creative, recordCreativeAnalysis, recordCreativeFile } from '#domain/corpus/creative.ts';
import type { Decider } from '#domain/decider.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { correctReliability } from '../ad-library/late/correct-reliability.ts';
import type { LateCause } from '../attribution/late-cause.ts';
import { moveAdsOfDomain, moveAdsOfPage } from '../attribution/move-ads.ts';

/** Library and storefront scans have parts, so they are not decided on arrival. */
export type OneStreamObservation = Exclude<
  Observation,
  { readonly type: 'ad_library.scan' | 'ad_library.scan_end' | 'storefront.scan' | 'storefront.scan_end' }
>;

type Decision<State, F extends Event> = {
  readonly stream: string;
  readonly decider: Decider<State, F>;
  readonly decision: (state: State) => readonly F[];
  /** Also when the decision added no events. Returns the number of its events. */
  readonly correct?: (database: Database, eventStore: EventStore) => Promise<number>;
  /** Facts that decide the brands of ads, perhaps after later scans. */
  readonly cause?: LateCause;
  /** Domain of a brand that the observation's own stream does not register. */
  readonly registers?: string;
};

/** Safe, because only the decider creates the state and only the decision reads it. */
const withErasedState = <State, F extends Event>(decision: Decision<State, F>): Decision<unknown, Event> =>
  decision as unknown as Decision<unknown, Event>;

/** `observed_at` must be in UTC. `slug`: reserved for a brand that a profile registers. */
export const createDecision = (
  observation: OneStreamObservation,
  slug: string | null,
): Decision<unknown, Event> => {
  switch (observation.type) {
    case 'site.scan':
      return withErasedState({
        stream: siteStream(observation.domain),
        decider: site,
        decision: recordSiteScan(observation),
      });
    case 'brand.profile':
      return withErasedState({
        stream: brandStream(brandIdOf(observation.domain)),
        decider: brand,
        decision: recordBrandProfile(observation, slug),
        correct: (database, eventStore) =>
          moveAdsOfDomain(database, eventStore, {
            domain: observation.domain,
            observedAt: observation.observed_at,
            byScans: true,
          }),
        cause: {
          brandId: brandIdOf(observation.domain),
          observedAt: observation.observed_at,
          about: { domain: observation.domain },
        },
      });
    case 'category.define':
      return withErasedState({
        stream: categoryStream(categoryIdOf(observation.path)),
        decider: category,
        decision: defineCategory(observation),
      });
    case 'traffic.estimate':
      return withErasedState({
        stream: trafficStream(observation.domain),
        decider: traffic,
        decision: recordTrafficEstimate(observation),
      });
    case 'creative.file':
      return withErasedState({
        stream: creativeStream(observation.creative_key),
        decider: creative,
        decision: recordCreativeFile(observation),
      });
    case 'creative.analysis':
      return withErasedState({
        stream: creativeStream(observation.creative_key),
        decider: creative,
        decision: recordCreativeAnalysis(observation),
      });
    case 'landing_page.scrape':
      return withErasedState({
        stream: landingPageStream(addressOf(observation).landing_page_id),
        decider: landingPage,
        decision: recordPageScrape(observation),
      });
    case 'landing_page.classify':
      return withErasedState({
        stream: landingPageStream(addressOf(observation).landing_page_id),
        decider: landingPage,
        decision: recordPageClassification(observation),
      });
    case 'social_page.link': {
      const { page_id: pageId, observed_at: observedAt } = observation;
      const brandId = brandIdOf(observation.brand_domain);
      const isLinked = observation.linked && observation.quarantined !== true;
      const domain = isLinked ? observation.brand_domain : null;
      return withErasedState({
        stream: socialPageStream(pageId),
        decider: socialPage,
        decision: recordPageLink(observation, brandId),
        ...(domain === null ? {} : { registers: domain }),
        correct: async (database, eventStore) => {
          const link = { brandId, pageId, observedAt };
          const corrections = await correctReliability(database, eventStore, link);
          const led =
            domain === null
              ? 0
              : await moveAdsOfDomain(database, eventStore, { domain, observedAt, byScans: true });
          const onPage = await moveAdsOfPage(database, eventStore, { ...link, byScans: true });
          return corrections + led + onPage;
        },
        cause: {
          brandId,
          observedAt,
          about: { pageId, linked: isLinked, confidence: observation.confidence, registers: domain },
        },
      });
    }
    case 'social_page.profile':
      return withErasedState({
        stream: socialPageStream(observation.page_id),
        decider: socialPage,
        decision: recordPageProfile(observation),
      });
    case 'operator.record':
      return withErasedState({
        stream: operatorStream(operatorIdOf(observation.name)),
        decider: operator,
        decision: recordOperator(observation),
      });
  }
};
