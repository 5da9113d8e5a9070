import type { Plan } from '../../events/workspace/workspace.ts';

/** Slots for tracked brands (specification, part "Limits"). */
export const PLANS: Readonly<Record<Plan, { readonly slots: number; readonly requestsPerMinute: number }>> = {
  free: { slots: 5, requestsPerMinute: 100 },
  pro: { slots: 50, requestsPerMinute: 1_000 },
  business: { slots: 500, requestsPerMinute: 1_000 },
  enterprise: { slots: 5_000, requestsPerMinute: 1_000 },
};
