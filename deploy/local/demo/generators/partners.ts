import type { BrandedContent, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import type { PageClaim } from '#contracts/observations/social-page-link.ts';
import type { Collector } from './ad-content.ts';
import type { Life } from './ad-lifecycle.ts';
import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoPage, World } from '../world/world.ts';

const CREATOR_NAMES_BRAND_SHARE = 0.5;
const BRAND_NAMES_CREATOR_SHARE = 0.15;
/** Share of creators with a claimed contract, which the API never serves. */
const CONTRACT_CLAIMED_SHARE = 0.12;

/** The brand in a creator's ad, or a creator in a brand's ad. */
export const partnerOf = (
  world: World,
  page: DemoPage,
  life: Life,
  collector: Collector,
): Pick<ObservedAd, 'branded_content'> => {
  if (collector === 'demo-api/1') return {};
  const random = new Random(world.seed, FOR.partner, life.ad);
  const pages = world.brandList[life.brand]?.pages.map((index) => world.pageList[index]) ?? [];
  const [official] = pages;
  const creators = pages.filter((other) => other?.role === 'CREATOR');
  const partner = (): DemoPage | undefined => {
    if (page.role === 'CREATOR') return random.chance(CREATOR_NAMES_BRAND_SHARE) ? official : undefined;
    if (page.role !== 'OFFICIAL' || creators.length === 0) return undefined;
    return random.chance(BRAND_NAMES_CREATOR_SHARE) ? random.pick(creators) : undefined;
  };
  const named = partner();
  if (named === undefined) return {};
  const branded_content: BrandedContent = { page_id: named.id, page_name: named.name };
  return { branded_content };
};

export const claimOf = (world: World, page: DemoPage): PageClaim => {
  const random = new Random(world.seed, FOR.partner, page.index, 1);
  return page.role === 'CREATOR' && random.chance(CONTRACT_CLAIMED_SHARE) ? 'AMBASSADOR' : page.role;
};
