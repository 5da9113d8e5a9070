/** Hours between scans of a brand. `census`: not tracked. */
export const TIER_HOURS = { daily: 24, weekly: 168, census: 720 } as const;
