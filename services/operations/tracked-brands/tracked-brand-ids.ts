import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { tracking } from '#domain/workspace/tracked-brands.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';

/** Reads the log, so that it includes brands that were just tracked. */
export const trackedBrandIds = async (
  eventStore: EventStore,
  workspaceId: string,
): Promise<ReadonlySet<string>> => {
  const { state } = await eventStore.load(trackingStream(workspaceId), tracking);
  return new Set(Array.from(state.brands, ([brandId]) => brandId));
};
