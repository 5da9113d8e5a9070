/** Length of the rate-limit window (specification, part "Limits": requests per minute). */
export const WINDOW_SECONDS = 60;
export const WINDOW_MS = WINDOW_SECONDS * 1_000;

/** Whether a request is allowed, and how many more are in this window. */
export type Allowance = {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds at which the window ends. */
  readonly resetAt: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetIn: number;
};

/**
 * Returns the `x-ratelimit-*` headers of the specification, and those of draft-ietf-httpapi-ratelimit-headers.
 */
export const rateHeaders = ({
  limit,
  remaining,
  resetAt,
  resetIn,
}: Allowance): Record<string, string | number> => ({
  'x-ratelimit-limit': limit,
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': resetAt,
  'ratelimit-policy': `"minute";q=${limit};w=${WINDOW_SECONDS}`,
  ratelimit: `"minute";r=${remaining};t=${resetIn}`,
});
