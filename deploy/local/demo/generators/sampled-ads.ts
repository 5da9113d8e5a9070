import { contentOn } from './ad-content.ts';
import { type Life, lifeOf } from './ad-lifecycle.ts';
import type { DemoPage, World } from '../world/world.ts';

/** Ads of each page whose destinations and files somebody has looked at: a large corpus takes no longer for it. */
const ADS_A_PAGE_MAX = 60;

export type LookedAtAd = {
  readonly life: Life;
  readonly content: ReturnType<typeof contentOn>;
  /** The first day of the corpus on which the library shows the ad. */
  readonly day: number;
};

/** The first ads of a page as the library shows them when it shows them first. */
export function* lookedAtAds(world: World, page: DemoPage): Generator<LookedAtAd> {
  for (let nth = 0; nth < Math.min(page.ads, ADS_A_PAGE_MAX); nth += 1) {
    const life = lifeOf(world, page, nth, 0);
    if (life === null) continue;
    const day = Math.min(Math.max(life.visibleFrom, 0), world.days - 1);
    yield { life, content: contentOn(world, page, life, day, 'demo-web/1'), day };
  }
}
