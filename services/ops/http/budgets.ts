/** Milliseconds of a request, from its arrival to its reply. Longer than a search of the log. */
export const OPS_BUDGET_MS = 30_000;
/** The same of a request that reads the whole history of a workspace. */
export const OPS_LONG_BUDGET_MS = 600_000;
