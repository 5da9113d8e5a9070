import { Refusal } from '#contracts/errors.ts';
import type { LoopLoad } from '#platform/process/loop-delay.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import type { Scope } from '#contracts/values/access/scopes.ts';

/** Maximum requests in progress in one process. Further ones get 503 before they use a connection. */
export const IN_FLIGHT_MAX = 512;
/** Maximum of one workspace: half, so that one caller cannot use up all. */
export const IN_FLIGHT_OF_WORKSPACE_MAX = IN_FLIGHT_MAX / 2;
/** Places in addition for requests that create and revoke keys: a revocation must not wait for a crowd. */
const RESERVED_FOR_KEYS = 64;
const KEYS_SCOPE: Scope = 'apiKeys:write';
/** Seconds after which a refused caller may try again. */
const RETRY_AFTER_SECONDS = 1;
/** The same while the event loop is late. */
const BUSY_RETRY_AFTER_SECONDS = 3;

const refusal = (whose: string): Refusal =>
  new Refusal(
    'overloaded',
    `Too many requests of ${whose} are in progress. Try again in ${RETRY_AFTER_SECONDS} s.`,
    [],
    RETRY_AFTER_SECONDS,
  );

const busy = (): Refusal =>
  new Refusal(
    'overloaded',
    `This server is busy and refuses reads. Try again in ${BUSY_RETRY_AFTER_SECONDS} s.`,
    [],
    BUSY_RETRY_AFTER_SECONDS,
  );

/** Bounds the requests in progress. */
export type Admission = {
  /** Takes a place until it is disposed. Throws `Refusal` when there is none, or for a read while the event loop is late. */
  enter(workspaceId: string, endpoint: Pick<Endpoint, 'scope' | 'method'>): Disposable;
};

export type AdmissionOptions = {
  /** Maximum requests in progress. */
  readonly max?: number | undefined;
  readonly loopLoad?: LoopLoad | undefined;
};

/** Creates the admission of a process. */
export const createAdmission = ({ max = IN_FLIGHT_MAX, loopLoad }: AdmissionOptions = {}): Admission => {
  const ofWorkspaces = new Map<string, number>();
  let inFlight = 0;
  return {
    enter: (workspaceId, { scope, method }) => {
      if (method === 'GET' && loopLoad?.refused() === 'reads and searches') throw busy();
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
