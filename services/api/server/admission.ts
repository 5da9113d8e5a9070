import { Refusal } from '#contracts/errors.ts';
import type { Scope } from '#contracts/values/scopes.ts';

/** Maximum requests in progress in one process. Further ones get 503 before they use a connection. */
export const IN_FLIGHT_MAX = 512;
/** Maximum of one workspace: half, so that one caller cannot use up all. */
export const IN_FLIGHT_OF_WORKSPACE_MAX = IN_FLIGHT_MAX / 2;
/** Places in addition for requests that create and revoke keys: a revocation must not wait for a crowd. */
const RESERVED_FOR_KEYS = 64;
const KEYS_SCOPE: Scope = 'apiKeys:write';
/** Seconds after which a refused caller may try again. */
const RETRY_AFTER_SECONDS = 1;

const refusal = (whose: string): Refusal =>
  new Refusal(
    'overloaded',
    `Too many requests of ${whose} are in progress. Try again in ${RETRY_AFTER_SECONDS} s.`,
    [],
    RETRY_AFTER_SECONDS,
  );

/** Bounds the requests in progress. */
export type Admission = {
  /** Takes a place until it is disposed. Throws `Refusal` when there is none. */
  enter(workspaceId: string, scope: Scope): Disposable;
};

/** Creates the admission of a process. `max`: for tests. */
export const createAdmission = (max = IN_FLIGHT_MAX): Admission => {
  const ofWorkspaces = new Map<string, number>();
  let inFlight = 0;
  return {
    enter: (workspaceId, scope) => {
      const reserved = scope === KEYS_SCOPE && max > 0 ? RESERVED_FOR_KEYS : 0;
      if (inFlight >= max + reserved) throw refusal('all callers together');
      const own = ofWorkspaces.get(workspaceId) ?? 0;
      if (own >= IN_FLIGHT_OF_WORKSPACE_MAX + reserved) throw refusal('this workspace');
      inFlight += 1;
      ofWorkspaces.set(workspaceId, own + 1);
      return {
        [Symbol.dispose]: () => {
          inFlight -= 1;
          const left = (ofWorkspaces.get(workspaceId) ?? 1) - 1;
          if (left === 0) ofWorkspaces.delete(workspaceId);
          else ofWorkspaces.set(workspaceId, left);
        },
      };
    },
  };
};
