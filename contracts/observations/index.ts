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

export const OBSERVATION_TYPES: readonly ObservationType[] = Observation.options.map(
  ({ shape }) => shape.type.value,
);

/** Default message limit of NATS. Larger observations are split into chunks. */
export const OBSERVATION_MAX_BYTES = 1_000_000;

/** Observations with the same key stay in order in the queue. Page links and scans use the brand's domain. */
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

export const observedAtOf = (observation: Observation): string =>
  'scanned_at' in observation ? observation.scanned_at : observation.observed_at;
