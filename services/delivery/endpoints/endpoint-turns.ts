import type { EndpointPlaces } from '#application/delivery-outbox/claim.ts';

const ENDPOINTS_WAITING_MAX = 10_000;

/** Due endpoints that wait: workspaces in turn, and in each the endpoint served least recently. */
export type EndpointTurns = {
  /** Behind the others, unless it waits already or too many do. */
  add(endpoint: string, workspaceId: string): void;
  /** Moves these endpoints behind the others. Skips those without places. At most `room` places together. */
  next(room: number, placesAt: (endpoint: string) => number): readonly EndpointPlaces[];
  remove(endpoint: string): void;
  size(): number;
};

export const createEndpointTurns = (): EndpointTurns => {
  const waiting = new Map<string, Set<string>>();
  const workspaceOf = new Map<string, string>();

  /** Has places and was not chosen yet. */
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
