import { z } from 'zod';
import { landingPageOf } from '../values/links/landing-pages.ts';
import { AdLibraryScanChunk, AdLibraryScanEnd } from './ad-library-scan.ts';
import { BrandProfile } from './brand-profile.ts';
import { CategoryDefine } from './category-define.ts';
import { OperatorRecord } from './operator-record.ts';
import { CreativeAnalysis, CreativeFile } from './creative.ts';
import { LandingPageClassify, LandingPageScrape } from './landing-page.ts';
import { SiteScan } from './site-scan.ts';
import { SocialPageLink } from './social-page-link.ts';
import { SocialPageProfile } from './social-page-profile.ts';
import { StorefrontScanEnd, StorefrontScanPage } from './storefront-scan.ts';
import { TrafficEstimate } from './traffic-estimate.ts';

/** All observation types that can be submitted, distinguished by `type`. */
export const Observation = z.discriminatedUnion('type', [
  BrandProfile,
  SocialPageLink,
  SocialPageProfile,
  OperatorRecord,
  CategoryDefine,
  TrafficEstimate,
  LandingPageScrape,
  LandingPageClassify,
  CreativeFile,
  CreativeAnalysis,
  SiteScan,
  StorefrontScanPage,
  StorefrontScanEnd,
  AdLibraryScanChunk,
  AdLibraryScanEnd,
]);
export type Observation = z.infer<typeof Observation>;
export type ObservationType = Observation['type'];

/** Every type of observation, in the order of the list. */
export const OBSERVATION_TYPES: readonly ObservationType[] = Observation.options.map(
  ({ shape }) => shape.type.value,
);

/** The default message limit of NATS. Larger observations are split into chunks. */
export const OBSERVATION_MAX_BYTES = 1_000_000;

/**
 * Returns the ordering key of an observation: observations with the same key stay in order in the queue. Social
 * page links and scans use the brand's domain.
 */
export const keyOf = (observation: Observation): string => {
  switch (observation.type) {
    case 'brand.profile':
    case 'traffic.estimate':
    case 'site.scan':
    case 'storefront.scan':
    case 'storefront.scan_end':
      return observation.domain;
    case 'social_page.profile':
      return observation.page_id;
    case 'operator.record':
      return observation.name.toLowerCase();
    case 'category.define':
      return observation.path.join(' > ').toLowerCase();
    case 'creative.file':
    case 'creative.analysis':
      return observation.creative_key;
    case 'landing_page.scrape':
    case 'landing_page.classify':
      return landingPageOf(observation.page_url)?.landing_page_id ?? observation.page_url;
    case 'social_page.link':
    case 'ad_library.scan':
    case 'ad_library.scan_end':
      return observation.brand_domain;
  }
};

/** Returns the time at which it was observed. */
export const observedAtOf = (observation: Observation): string =>
  'scanned_at' in observation ? observation.scanned_at : observation.observed_at;
