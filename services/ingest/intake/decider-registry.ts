import { type BrandEvent, brandStream } from '#contracts/events/corpus/brand.ts';
import { categoryStream } from '#contracts/events/corpus/category.ts';
import { creativeStream } from '#contracts/events/corpus/creative.ts';
import type { Event } from '#contracts/events/event.ts';
import { landingPageStream } from '#contracts/events/corpus/landing-page.ts';
import { operatorStream } from '#contracts/events/corpus/operator.ts';
import {
  type PageProfileObserved,
  type SocialPageEvent,
  socialPageStream,
} from '#contracts/events/corpus/social-page.ts';
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
import { correctReliability } from '../ad-library/correct-reliability.ts';

/** Observations that are decided on arrival, on one stream. Excludes library and storefront scans, which have parts. */
export type OneStreamObservation = Exclude<
  Observation,
  { readonly type: 'ad_library.scan' | 'ad_library.scan_end' | 'storefront.scan' | 'storefront.scan_end' }
>;

/** The stream, decider and decision for one observation. */
type Decision<State, F extends Event> = {
  readonly stream: string;
  readonly decider: Decider<State, F>;
  readonly decision: (state: State) => readonly F[];
  /** Stores data of the events in the working tables, for the decisions of later library scans. */
  readonly remember?: (database: Database, events: readonly Event[]) => Promise<void>;
  /** Corrects other streams, also if the decision added no events. Returns the number of its events. */
  readonly correct?: (database: Database, eventStore: EventStore) => Promise<number>;
};

/** Erases the state type. Safe, because only the decider creates the state and only the decision reads it. */
const withErasedState = <State, F extends Event>(decision: Decision<State, F>): Decision<unknown, Event> =>
  decision as unknown as Decision<unknown, Event>;

/** Returns the decision for an observation by its type. `observed_at` must be in UTC. */
export const createDecision = (observation: OneStreamObservation): Decision<unknown, Event> => {
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
        decision: recordBrandProfile(observation),
        remember: storeRegisteredBrands,
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
      return withErasedState({
        stream: socialPageStream(pageId),
        decider: socialPage,
        decision: recordPageLink(observation, brandId),
        remember: storePageLinks,
        correct: (database, eventStore) =>
          correctReliability(database, eventStore, { brandId, pageId, observedAt }),
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

/** Stores newly registered brands in `ingest.brand`. Idempotent. */
export const storeRegisteredBrands = async (database: Database, events: readonly Event[]): Promise<void> => {
  for (const event of events as readonly BrandEvent[]) {
    if (event.type !== 'BrandRegistered') continue;
    await database.query(
      'insert into ingest.brand (brand_id, domain) values ($1, $2) on conflict do nothing',
      [event.data.brand_id, event.data.domain],
    );
  }
};

const LINK_EVENTS: ReadonlySet<string> = new Set<SocialPageEvent['type']>([
  'PageLinked',
  'PageUnlinked',
  'PageLinkQuarantined',
  'PageLinkObserved',
]);

/** Adds the observation of a link to `ingest.page_link`. Of two of the same time, the last in the log holds. */
const storeLinkHistory = async (database: Database, event: Event): Promise<void> => {
  if (!LINK_EVENTS.has(event.type)) return;
  const { type, data } = event as Exclude<SocialPageEvent, PageProfileObserved>;
  const linked = type === 'PageLinkObserved' ? data.status === 'linked' : type === 'PageLinked';
  await database.query({
    name: 'ingest_page_link',
    text: `insert into ingest.page_link (brand_id, social_page_id, observed_at, linked) values ($1, $2, $3, $4)
           on conflict (social_page_id, brand_id, observed_at) do update set linked = excluded.linked`,
    values: [data.brand_id, data.page_id, data.observed_at, linked],
  });
};

/** Applies links between social pages and brands to `ingest.linked_page` and `ingest.page_link`. */
export const storePageLinks = async (database: Database, events: readonly Event[]): Promise<void> => {
  for (const event of events as readonly SocialPageEvent[]) {
    const { type, data } = event;
    await storeLinkHistory(database, event);
    if (type === 'PageLinked') {
      await database.query(
        `insert into ingest.linked_page (brand_id, social_page_id, confidence, linked_at) values ($1, $2, $3, $4)
         on conflict (brand_id, social_page_id) do update set confidence = excluded.confidence`,
        [data.brand_id, data.page_id, data.confidence, data.observed_at],
      );
    } else if (type === 'PageUnlinked' || type === 'PageLinkQuarantined') {
      await database.query('delete from ingest.linked_page where brand_id = $1 and social_page_id = $2', [
        data.brand_id,
        data.page_id,
      ]);
    }
  }
};
