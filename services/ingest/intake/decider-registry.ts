import { type BrandEvent, brandStream } from '#contracts/events/corpus/brand.ts';
import { categoryStream } from '#contracts/events/corpus/category.ts';
import { creativeStream } from '#contracts/events/corpus/creative.ts';
import type { Event } from '#contracts/events/event.ts';
import { landingPageStream } from '#contracts/events/corpus/landing-page.ts';
import { operatorStream } from '#contracts/events/corpus/operator.ts';
import { type SocialPageEvent, socialPageStream } from '#contracts/events/corpus/social-page.ts';
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
import type { Database } from '#platform/postgres/pool.ts';

/** Observations that one stream alone decides on, when they arrive. Library and storefront scans come in parts. */
export type OneStreamObservation = Exclude<
  Observation,
  { readonly type: 'ad_library.scan' | 'ad_library.scan_end' | 'storefront.scan' | 'storefront.scan_end' }
>;

/** What an observation is decided on, and by. */
type Decision<State, F extends Event> = {
  readonly stream: string;
  readonly decider: Decider<State, F>;
  readonly decision: (state: State) => readonly F[];
  /** Keeps what later decisions on library scans look up. */
  readonly remember?: (database: Database, events: readonly Event[]) => Promise<void>;
};

/** Whatever the state is: it comes from the decider and goes to the decision, and nobody else looks. */
const decided = <State, F extends Event>(decision: Decision<State, F>): Decision<unknown, Event> =>
  decision as unknown as Decision<unknown, Event>;

/** The decision that each type of observation asks for. `observed_at` is in UTC. */
export const decisionOf = (observation: OneStreamObservation): Decision<unknown, Event> => {
  switch (observation.type) {
    case 'site.scan':
      return decided({
        stream: siteStream(observation.domain),
        decider: site,
        decision: recordSiteScan(observation),
      });
    case 'brand.profile':
      return decided({
        stream: brandStream(brandIdOf(observation.domain)),
        decider: brand,
        decision: recordBrandProfile(observation),
        remember: rememberBrand,
      });
    case 'category.define':
      return decided({
        stream: categoryStream(categoryIdOf(observation.path)),
        decider: category,
        decision: defineCategory(observation),
      });
    case 'traffic.estimate':
      return decided({
        stream: trafficStream(observation.domain),
        decider: traffic,
        decision: recordTrafficEstimate(observation),
      });
    case 'creative.file':
      return decided({
        stream: creativeStream(observation.creative_key),
        decider: creative,
        decision: recordCreativeFile(observation),
      });
    case 'creative.analysis':
      return decided({
        stream: creativeStream(observation.creative_key),
        decider: creative,
        decision: recordCreativeAnalysis(observation),
      });
    case 'landing_page.scrape':
      return decided({
        stream: landingPageStream(addressOf(observation).landing_page_id),
        decider: landingPage,
        decision: recordPageScrape(observation),
      });
    case 'landing_page.classify':
      return decided({
        stream: landingPageStream(addressOf(observation).landing_page_id),
        decider: landingPage,
        decision: recordPageClassification(observation),
      });
    case 'social_page.link':
      return decided({
        stream: socialPageStream(observation.page_id),
        decider: socialPage,
        decision: recordPageLink(observation, brandIdOf(observation.brand_domain)),
        remember: rememberLinks,
      });
    case 'social_page.profile':
      return decided({
        stream: socialPageStream(observation.page_id),
        decider: socialPage,
        decision: recordPageProfile(observation),
      });
    case 'operator.record':
      return decided({
        stream: operatorStream(operatorIdOf(observation.name)),
        decider: operator,
        decision: recordOperator(observation),
      });
  }
};

export const rememberBrand = async (database: Database, events: readonly Event[]): Promise<void> => {
  for (const event of events as readonly BrandEvent[]) {
    if (event.type !== 'BrandRegistered') continue;
    await database.query(
      'insert into ingest.brand (brand_id, domain) values ($1, $2) on conflict do nothing',
      [event.data.brand_id, event.data.domain],
    );
  }
};

export const rememberLinks = async (database: Database, events: readonly Event[]): Promise<void> => {
  for (const { type, data } of events as readonly SocialPageEvent[]) {
    if (type === 'PageLinked') {
      await database.query(
        `insert into ingest.linked_page (brand_id, page_id, confidence) values ($1, $2, $3)
         on conflict (brand_id, page_id) do update set confidence = excluded.confidence`,
        [data.brand_id, data.page_id, data.confidence],
      );
    } else if (type === 'PageUnlinked' || type === 'PageLinkQuarantined') {
      await database.query('delete from ingest.linked_page where brand_id = $1 and page_id = $2', [
        data.brand_id,
        data.page_id,
      ]);
    }
  }
};
