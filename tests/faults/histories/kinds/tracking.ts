import { Refusal } from '#contracts/errors.ts';
import { type TrackingEvent, trackingStream } from '#contracts/events/workspace/workspace.ts';
import type { Cadence } from '#contracts/values/primitives.ts';
import { type TrackingState, trackBrand, tracking, untrackBrand } from '#domain/workspace/tracked-brands.ts';
import type { Shown, Write } from '../history.ts';
import type { Played, SequentialModel } from '../linearizability.ts';
import { type Kind, statesOf } from './kind.ts';

/** Tracked brands of the plan `free`, which refuses more than five. */

const CADENCES: readonly Cadence[] = ['daily', 'weekly'];
const TRACKS_OF_100 = 62;

export type TrackingOperation =
  | { readonly kind: 'track'; readonly brand: string; readonly cadence: Cadence }
  | { readonly kind: 'untrack'; readonly brand: string };
/** `refused`: all slots of the plan were used. */
export type TrackingOutcome =
  | { readonly kind: 'tracked'; readonly createdAt: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'untracked'; readonly removed: boolean };
export type TrackingWrite = Write<TrackingOperation, TrackingOutcome>;

type ShownBrand = { readonly cadence: Cadence; readonly created_at: string };

const WORKSPACE_ID = 'of the trial';
/** Time of tracking that no reply has shown yet. */
const NOT_SHOWN = '';

const evolve = (state: TrackingState, events: readonly TrackingEvent[]): TrackingState =>
  events.reduce(tracking.evolve, state);

/** Events of a decision; `null` when it is refused. */
const decided = (
  state: TrackingState,
  { operation }: TrackingWrite,
  at: string,
): readonly TrackingEvent[] | null => {
  try {
    if (operation.kind === 'untrack')
      return untrackBrand({ workspace_id: WORKSPACE_ID, brand_id: operation.brand, at })(state);
    const { brand, cadence } = operation;
    return trackBrand({ workspace_id: WORKSPACE_ID, brand_id: brand, cadence, plan: 'free', at })(state);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

const isWhile = ({ sentMs, endedMs }: TrackingWrite, at: string): boolean =>
  Date.parse(at) >= Math.floor(sentMs) && Date.parse(at) <= endedMs;

/** State with the shown time; `null` when another time is known. */
const withShownTime = (state: TrackingState, brand: string, createdAt: string): TrackingState | null => {
  const tracked = state.brands.get(brand);
  if (tracked === undefined) return null;
  if (tracked.tracked_at === createdAt) return state;
  if (tracked.tracked_at !== NOT_SHOWN) return null;
  return { brands: state.brands.with(brand, { ...tracked, tracked_at: createdAt }) };
};

const after = (state: TrackingState, write: TrackingWrite): readonly TrackingState[] => {
  const { operation, outcome } = write;
  const events = decided(state, write, outcome.kind === 'tracked' ? outcome.createdAt : NOT_SHOWN);
  switch (outcome.kind) {
    case 'refused':
      return events === null ? [state] : [];
    case 'unknown':
      return [events === null ? state : evolve(state, events)];
    case 'untracked':
      return events !== null && events.length > 0 === outcome.removed ? [evolve(state, events)] : [];
    case 'tracked': {
      if (events === null) return [];
      const [event] = events;
      if (event?.type === 'BrandTracked' && !isWhile(write, outcome.createdAt)) return [];
      const shown = withShownTime(evolve(state, events), operation.brand, outcome.createdAt);
      return shown === null ? [] : [shown];
    }
  }
};

const entriesOf = ({ brands }: TrackingState): readonly (readonly [string, ShownBrand])[] =>
  [...brands]
    .map(([brand, { cadence, tracked_at: created_at }]) => [brand, { cadence, created_at }] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

const modelOf = (last: ReadonlyMap<string, ShownBrand>): SequentialModel<TrackingState, TrackingWrite> => ({
  initial: tracking.initial,
  after,
  keyOf: (state) => JSON.stringify(entriesOf(state)),
  isLast: ({ brands }) =>
    brands.size === last.size &&
    [...brands].every(([brand, { cadence, tracked_at }]) => {
      const recorded = last.get(brand);
      return recorded?.cadence === cadence && [NOT_SHOWN, recorded.created_at].includes(tracked_at);
    }),
});

/** `last`: brands at the end, as `prefixesOf` returns them. */
export const trackingModel = (last: string): SequentialModel<TrackingState, TrackingWrite> =>
  modelOf(new Map(JSON.parse(last) as [string, ShownBrand][]));

/** Writes of each brand alone: if those of one brand have no order, those of all have none. */
export const partsByBrand = (
  last: string,
  writes: readonly TrackingWrite[],
): readonly Played<TrackingState, TrackingWrite>[] => {
  const ends = JSON.parse(last) as [string, ShownBrand][];
  return [...Map.groupBy(writes, ({ operation }) => operation.brand)].map(([brand, calls]) => {
    const model = modelOf(new Map(ends.filter(([one]) => one === brand)));
    return {
      model: {
        ...model,
        after: (state, write) => (write.outcome.kind === 'refused' ? [state] : after(state, write)),
      },
      calls,
    };
  });
};

/** Brands after each number of events, from none to all. */
export const prefixesOf = (events: readonly TrackingEvent[]): readonly Shown[] =>
  statesOf(tracking, events).map(
    (state) => new Map(entriesOf(state).map(([brand, shown]) => [brand, JSON.stringify(shown)])),
  );

/** `brands`: more than the plan has slots, so that writes are refused. */
export const trackingOf = (
  workspaceId: string,
  brands: readonly string[],
): Kind<TrackingOperation, TrackingOutcome, TrackingState, TrackingEvent> => {
  const path = `/v1/workspaces/${workspaceId}/tracked-brands`;
  return {
    name: 'tracked brands',
    path,
    streams: trackingStream(workspaceId),
    choose: (choose) => {
      const brand = brands[choose(brands.length)] ?? '';
      const cadence = CADENCES[choose(CADENCES.length)] ?? 'daily';
      return choose(100) < TRACKS_OF_100 ? { kind: 'track', brand, cadence } : { kind: 'untrack', brand };
    },
    requestOf: (operation) =>
      operation.kind === 'track'
        ? { method: 'POST', path, body: { brand_id: operation.brand, cadence: operation.cadence } }
        : { method: 'DELETE', path: `${path}/${operation.brand}`, body: {} },
    outcomeOf: ({ kind }, { status, data }) => {
      if (kind === 'untrack')
        return status === 200 ? { kind: 'untracked', removed: (data as { removed: boolean }).removed } : null;
      if (status === 402) return { kind: 'refused' };
      const { created_at } = (data ?? {}) as { created_at: string };
      return status === 201 ? { kind: 'tracked', createdAt: created_at } : null;
    },
    recordOf: (data) => {
      const { brand, cadence, created_at } = data as ShownBrand & { readonly brand: { readonly id: string } };
      return [brand.id, JSON.stringify({ cadence, created_at })];
    },
    // No operation: replies have another shape than the list.
    showing: new Set(),
    objectsOf: (calls, events) => {
      const last = JSON.stringify(entriesOf(events.reduce(tracking.evolve, tracking.initial)));
      return [{ model: trackingModel(last), calls, parts: partsByBrand(last, calls) }];
    },
    prefixesOf,
  };
};
