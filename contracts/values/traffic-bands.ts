export const TRAFFIC_BANDS = [0, 10_000, 100_000, 1_000_000, 10_000_000] as const;
