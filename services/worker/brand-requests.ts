import { randomUUID } from 'node:crypto';
import type { Event } from '#contracts/events/event.ts';
import { brandRequestsStream } from '#contracts/events/workspace/brand-request.ts';
import { trackingStream, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Decider } from '#domain/decider.ts';
import {
  type BrandRequestState,
  brandRequests,
  fulfilBrandRequest,
  isOpenRequest,
} from '#domain/workspace/brand-requests.ts';
import { trackBrands, tracking } from '#domain/workspace/tracked-brands.ts';
import { workspace } from '#domain/workspace/workspace.ts';
import { executeCommand, eventMetadata, serviceActor } from '#application/commands/command-handler.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Log } from '#platform/logger.ts';
import { type ObservedRequest, listObservedRequests } from '#projections/queries/brand-requests.ts';

const POLL_INTERVAL_MS = 5_000;
const REQUESTS_PER_POLL_MAX = 100;

export type FulfilDependencies = {
  readonly db: ReadDatabase;
  readonly eventStore: EventStore;
  readonly clock: Clock;
};

const execute = async <State, E extends Event>(
  { eventStore }: FulfilDependencies,
  { workspace_id, request_id }: ObservedRequest,
  command: {
    readonly stream: string;
    readonly decider: Decider<State, E>;
    readonly decision: (state: State) => readonly E[];
  },
): Promise<{ readonly state: State; readonly events: readonly E[] }> => {
  const commandId = randomUUID();
  const metadata = eventMetadata({
    actor: serviceActor('worker'),
    correlationId: request_id,
    causationId: commandId,
    workspaceId: workspace_id,
  });
  return executeCommand(eventStore, { ...command, metadata, commandId });
};

/** A brand that is tracked already keeps its cadence. Returns false when no slot is free. */
const track = async (
  dependencies: FulfilDependencies,
  found: ObservedRequest,
  { brand_id, cadence }: BrandRequestState,
): Promise<boolean> => {
  const { eventStore, clock } = dependencies;
  const { workspace_id } = found;
  const { plan } = (await eventStore.load(workspaceStream(workspace_id), workspace)).state;
  const wish = { workspace_id, brand_id, cadence, plan, at: clock.now().toISOString() };
  const { state } = await execute(dependencies, found, {
    stream: trackingStream(workspace_id),
    decider: tracking,
    decision: (tracked) => (tracked.brands.has(brand_id) ? [] : trackBrands([wish])(tracked)),
  });
  return state.brands.has(brand_id);
};

/** The read model may still show a request as open that is not: the log decides. */
const fulfil = async (dependencies: FulfilDependencies, found: ObservedRequest): Promise<boolean> => {
  const { eventStore, clock } = dependencies;
  const { workspace_id, request_id, slug } = found;
  const stream = brandRequestsStream(workspace_id);
  const request = (await eventStore.load(stream, brandRequests)).state.requests.get(request_id);
  if (!request || !isOpenRequest(request)) return false;
  const outcome = request.track
    ? (await track(dependencies, found, request))
      ? 'tracked'
      : 'no_slot'
    : 'not_asked';
  const at = clock.now().toISOString();
  const decision = fulfilBrandRequest({ workspace_id, request_id, slug, tracking: outcome, at });
  const { events } = await execute(dependencies, found, { stream, decider: brandRequests, decision });
  return events.length > 0;
};

/**
 * Makes requests ready whose brand is registered, and tracks the brands if asked. Returns how many. Tracking comes
 * first, so that a crash between the two commands loses no wish.
 */
export const fulfilBrandRequests = async (dependencies: FulfilDependencies): Promise<number> => {
  let fulfilled = 0;
  for (const found of await listObservedRequests(dependencies.db, REQUESTS_PER_POLL_MAX)) {
    if (await fulfil(dependencies, found)) fulfilled += 1;
  }
  return fulfilled;
};

/** Idempotent, also across workers. */
export const fulfilWhenObserved = async (
  dependencies: FulfilDependencies & { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> => {
  const { log, signal } = dependencies;
  while (!signal.aborted) {
    try {
      const requests = await fulfilBrandRequests(dependencies);
      if (requests > 0) log.info({ requests }, 'brand requests fulfilled');
    } catch (error) {
      if (!signal.aborted) {
        log.warn({ reason: (error as Error).message }, 'polling for brand requests failed; retrying');
      }
    }
    await pause(POLL_INTERVAL_MS, signal);
  }
};
