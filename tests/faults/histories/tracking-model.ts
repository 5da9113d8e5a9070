import { Refusal } from '#contracts/errors.ts';
import type { TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import { type TrackingState, trackBrand, tracking, untrackBrand } from '#domain/workspace/tracked-brands.ts';
import type { ShownBrand, Write } from './history.ts';
import type { Played, SequentialModel } from './linearizability.ts';

/** The tracked brands of a workspace of the plan `free`, by the decider of the service. */

const WORKSPACE_ID = 'of the trial';
/** Time of tracking that no reply has shown yet. */
const NOT_SHOWN = '';

const evolve = (state: TrackingState, events: readonly TrackingEvent[]): TrackingState =>
  events.reduce(tracking.evolve, state);

/** Returns the events of a decision; `null` when it is refused. */
const decided = (state: TrackingState, { operation }: Write, at: string): readonly TrackingEvent[] | null => {
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

const isWhile = ({ sentMs, endedMs }: Write, at: string): boolean =>
  Date.parse(at) >= Math.floor(sentMs) && Date.parse(at) <= endedMs;

/** Returns the state with the time of tracking that a reply has shown; `null` when another one is known. */
const withShownTime = (state: TrackingState, brand: string, createdAt: string): TrackingState | null => {
  const tracked = state.brands.get(brand);
  if (tracked === undefined) return null;
  if (tracked.tracked_at === createdAt) return state;
  if (tracked.tracked_at !== NOT_SHOWN) return null;
  return { brands: state.brands.with(brand, { ...tracked, tracked_at: createdAt }) };
};

const after = (state: TrackingState, write: Write): readonly TrackingState[] => {
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

const modelOf = (last: ReadonlyMap<string, ShownBrand>): SequentialModel<TrackingState, Write> => ({
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

/** `last`: the brands that the stream holds at the end, as `prefixesOf` returns them. */
export const trackingModel = (last: string): SequentialModel<TrackingState, Write> =>
  modelOf(new Map(JSON.parse(last) as [string, ShownBrand][]));

/**
 * Returns the writes of each brand alone. Other brands may have used all slots at any time, so a refusal is always possible here:
 * if the writes of one brand have no order, those of all have none.
 */
export const partsByBrand = (
  last: string,
  writes: readonly Write[],
): readonly Played<TrackingState, Write>[] => {
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

/** Returns the brands that each number of events leaves, from none to all. */
export const prefixesOf = (events: readonly TrackingEvent[]): readonly string[] => {
  let state = tracking.initial;
  return [
    JSON.stringify(entriesOf(state)),
    ...events.map((event) => {
      state = tracking.evolve(state, event);
      return JSON.stringify(entriesOf(state));
    }),
  ];
};

/** Returns a reply's brands in the form of `prefixesOf`. */
export const shownForm = (shown: ReadonlyMap<string, ShownBrand>): string =>
  JSON.stringify([...shown].toSorted(([a], [b]) => (a < b ? -1 : 1)));
