import type { EndpointPlaces } from '#application/delivery-outbox/claim.ts';

/** Maximum endpoints that wait for their turn in one process. Further ones are found by a later sweep. */
const ENDPOINTS_WAITING_MAX = 10_000;

/**
 * Endpoints with due deliveries that wait for their turn: workspaces in turn, and of each workspace the endpoint that was
 * served least recently.
 */
export type EndpointTurns = {
  /** Adds an endpoint behind the others, unless it waits already or too many do. */
  add(endpoint: string, workspaceId: string): void;
  /**
   * Returns the next endpoints with their places, and moves them behind the others. Skips those without places. Together
   * they have at most `room` places.
   */
  next(room: number, placesAt: (endpoint: string) => number): readonly EndpointPlaces[];
  /** Removes an endpoint that has nothing more due. */
  remove(endpoint: string): void;
  /** Returns the number of endpoints that wait. */
  size(): number;
};

export const createEndpointTurns = (): EndpointTurns => {
  /** Endpoints by workspace, both in the order of their turns. */
  const waiting = new Map<string, Set<string>>();
  const workspaceOf = new Map<string, string>();

  /** Returns the first endpoint of a workspace that has places and was not chosen. */
  const firstOf = (
    endpoints: ReadonlySet<string>,
    chosen: ReadonlyMap<string, number>,
    placesAt: (endpoint: string) => number,
  ): EndpointPlaces | null => {
    for (const endpoint of endpoints) {
      if (chosen.has(endpoint)) continue;
      const places = placesAt(endpoint);
      if (places > 0) return { endpoint, places };
    }
    return null;
  };

  return {
    add: (endpoint, workspaceId) => {
      if (workspaceOf.has(endpoint) || workspaceOf.size >= ENDPOINTS_WAITING_MAX) return;
      workspaceOf.set(endpoint, workspaceId);
      const endpoints = waiting.get(workspaceId);
      if (endpoints) endpoints.add(endpoint);
      else waiting.set(workspaceId, new Set([endpoint]));
    },
    next: (room, placesAt) => {
      const chosen = new Map<string, number>();
      let left = room;
      // One endpoint of each workspace in a round.
      for (let workspaces = [...waiting]; workspaces.length > 0 && left > 0; ) {
        const served: typeof workspaces = [];
        for (const [workspaceId, endpoints] of workspaces) {
          if (left <= 0) break;
          const first = firstOf(endpoints, chosen, placesAt);
          if (first === null) continue;
          const places = Math.min(first.places, left);
          left -= places;
          chosen.set(first.endpoint, places);
          endpoints.delete(first.endpoint);
          endpoints.add(first.endpoint);
          waiting.delete(workspaceId);
          waiting.set(workspaceId, endpoints);
          served.push([workspaceId, endpoints]);
        }
        workspaces = served;
      }
      return [...chosen].map(([endpoint, places]) => ({ endpoint, places }));
    },
    remove: (endpoint) => {
      const workspaceId = workspaceOf.get(endpoint);
      if (workspaceId === undefined) return;
      workspaceOf.delete(endpoint);
      const endpoints = waiting.get(workspaceId);
      endpoints?.delete(endpoint);
      if (endpoints?.size === 0) waiting.delete(workspaceId);
    },
    size: () => workspaceOf.size,
  };
};
