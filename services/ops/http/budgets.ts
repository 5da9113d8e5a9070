/** Time from arrival to reply; longer than a search of the log. */
export const OPS_BUDGET_MS = 30_000;
/** Time limit of requests that read a whole history. */
export const OPS_LONG_BUDGET_MS = 600_000;
