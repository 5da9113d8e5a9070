import type { Freshness } from '#contracts/resources/brand.ts';

/** The freshness of a brand of which no scan is known: nothing is made up for it. */
export const neverScanned = (tier: Freshness['freshness_tier']): Freshness => ({
  as_of: null,
  last_reliable_at: null,
  next_due: null,
  freshness_tier: tier,
});
