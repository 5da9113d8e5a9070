/**
 * Hours between scans of a brand in each tier: tracked daily, tracked weekly, or not tracked
 * (`census`).
 */
export const TIER_HOURS = { daily: 24, weekly: 168, census: 720 } as const;
