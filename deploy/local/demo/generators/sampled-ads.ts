import { contentOn } from './ad-content.ts';
import { type Life, lifeOf } from './ad-lifecycle.ts';
import type { DemoPage, World } from '../world/world.ts';

/** Bounds the work for a large corpus. */
const ADS_A_PAGE_MAX = 60;

export type SampledAd = {
  readonly life: Life;
  readonly content: ReturnType<typeof contentOn>;
  readonly day: number;
};

export function* sampleAds(world: World, page: DemoPage): Generator<SampledAd> {
  for (let nth = 0; nth < Math.min(page.ads, ADS_A_PAGE_MAX); nth += 1) {
    const life = lifeOf(world, page, nth, 0);
    if (life === null) continue;
    const day = Math.min(Math.max(life.visibleFrom, 0), world.days - 1);
    yield { life, content: contentOn(world, page, life, day, 'demo-web/1'), day };
  }
}
