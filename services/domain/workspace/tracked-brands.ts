import { Refusal } from '#contracts/errors.ts';
import type { Plan, TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import { PLANS } from '#contracts/values/access.ts';
import type { Cadence } from '#contracts/values/primitives.ts';
import type { Decider, SnapshotCodec } from '../decider.ts';
import { PersistentMap, type PersistentMapJson } from '../persistent-map.ts';

/** Aggregate tracked brands, stream `tracking-<workspaceId>`: brands with the cadence of their scans. */

export type TrackedBrand = { readonly cadence: Cadence; readonly tracked_at: string };
export type TrackingState = { readonly brands: PersistentMap<TrackedBrand> };

const initial: TrackingState = { brands: PersistentMap.empty() };

const evolve = ({ brands }: TrackingState, event: TrackingEvent): TrackingState => {
  const { brand_id } = event.data;
  switch (event.type) {
    case 'BrandTracked': {
      const { cadence, tracked_at } = event.data;
      return { brands: brands.with(brand_id, { cadence, tracked_at }) };
    }
    case 'TrackingCadenceChanged': {
      const tracked = brands.get(brand_id);
      if (!tracked) return { brands };
      return { brands: brands.with(brand_id, { ...tracked, cadence: event.data.cadence }) };
    }
    case 'BrandUntracked':
      return { brands: brands.without(brand_id) };
  }
};

const snapshot: SnapshotCodec<TrackingState> = {
  version: 1,
  encode: ({ brands }) => brands.toJson(),
  decode: (json) => ({ brands: PersistentMap.fromJson(json as PersistentMapJson) }),
};

export const tracking: Decider<TrackingState, TrackingEvent> = { initial, evolve, snapshot };

export type TrackBrandInput = {
  readonly workspace_id: string;
  readonly brand_id: string;
  readonly cadence: Cadence;
  readonly plan: Plan;
  readonly at: string;
};

/**
 * Only a newly tracked brand uses a slot (specification, part "States and transitions"). `null` when none is free.
 */
const trackOne = (
  { brands }: TrackingState,
  { workspace_id, brand_id, cadence, plan, at }: TrackBrandInput,
): readonly TrackingEvent[] | null => {
  const tracked = brands.get(brand_id);
  if (tracked?.cadence === cadence) return [];
  if (tracked) {
    return [{ type: 'TrackingCadenceChanged', data: { workspace_id, brand_id, cadence, changed_at: at } }];
  }
  if (brands.size >= PLANS[plan].slots) return null;
  return [{ type: 'BrandTracked', data: { workspace_id, brand_id, cadence, tracked_at: at } }];
};

export const trackBrand =
  (input: TrackBrandInput) =>
  (state: TrackingState): readonly TrackingEvent[] => {
    const events = trackOne(state, input);
    if (events !== null) return events;
    const { plan } = input;
    throw new Refusal(
      'quota_used_up',
      `All ${PLANS[plan].slots} tracked-brand slots of the ${plan} plan are used. Untrack a brand or change the plan.`,
    );
  };

/** One after another, as `trackBrand` does. Leaves out brands for which no slot is free. */
export const trackBrands =
  (inputs: readonly TrackBrandInput[]) =>
  (state: TrackingState): readonly TrackingEvent[] => {
    const events: TrackingEvent[] = [];
    let current = state;
    for (const input of inputs) {
      const decided = trackOne(current, input) ?? [];
      current = decided.reduce(evolve, current);
      events.push(...decided);
    }
    return events;
  };

export const untrackBrand =
  (input: { readonly workspace_id: string; readonly brand_id: string; readonly at: string }) =>
  (state: TrackingState): readonly TrackingEvent[] => {
    const { workspace_id, brand_id, at } = input;
    if (!state.brands.has(brand_id)) return [];
    return [{ type: 'BrandUntracked', data: { workspace_id, brand_id, untracked_at: at } }];
  };
