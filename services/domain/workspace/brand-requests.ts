import { Refusal } from '#contracts/errors.ts';
import type { BrandRequested, BrandRequestEvent } from '#contracts/events/workspace/brand-request.ts';
import type { Plan } from '#contracts/events/workspace/workspace.ts';
import {
  ACCEPTED_AT_ONCE_MAX,
  BRAND_REQUESTS_MAX,
  BRAND_REQUESTS_OPEN_MAX,
  type BrandRequestStatus,
  type RequestedTracking,
} from '#contracts/resources/workspace/brand-request.ts';
import type { Decider, SnapshotCodec } from '../decider.ts';
import { brandIdOf, derivedId } from '../ids.ts';
import { PersistentMap, type PersistentMapJson } from '../persistent-map.ts';

/** Aggregate brand requests, stream `brandRequests-<workspaceId>`. One request for each domain. */

export type BrandRequestState = Omit<BrandRequested['data'], 'workspace_id'> & {
  readonly status: BrandRequestStatus;
  readonly accepted_by: 'plan' | 'operator' | null;
  readonly decided_at: string | null;
  /** The operator's reason for a refusal. */
  readonly reason: string | null;
  readonly tracking: RequestedTracking;
  /** Set when ready. */
  readonly slug: string | null;
  readonly ready_at: string | null;
};
export type BrandRequestsState = { readonly requests: PersistentMap<BrandRequestState> };

const initial: BrandRequestsState = { requests: PersistentMap.empty() };

const evolve = ({ requests }: BrandRequestsState, event: BrandRequestEvent): BrandRequestsState => {
  const { request_id } = event.data;
  const changed = (change: Partial<BrandRequestState>): BrandRequestsState => {
    const request = requests.get(request_id);
    return { requests: request ? requests.with(request_id, { ...request, ...change }) : requests };
  };
  switch (event.type) {
    case 'BrandRequested': {
      const { workspace_id: _, ...asked } = event.data;
      const request: BrandRequestState = {
        ...asked,
        status: 'requested',
        accepted_by: null,
        decided_at: null,
        reason: null,
        tracking: asked.track ? 'waiting' : 'not_asked',
        slug: null,
        ready_at: null,
      };
      return { requests: requests.with(request_id, request) };
    }
    case 'BrandRequestAccepted': {
      const { accepted_by, accepted_at } = event.data;
      return changed({ status: 'collecting', accepted_by, decided_at: accepted_at, reason: null });
    }
    case 'BrandRequestRefused': {
      const { reason, refused_at } = event.data;
      return changed({ status: 'refused', decided_at: refused_at, reason });
    }
    case 'BrandRequestFulfilled': {
      const { slug, tracking, fulfilled_at } = event.data;
      return changed({ status: 'ready', slug, tracking, ready_at: fulfilled_at });
    }
  }
};

const snapshot: SnapshotCodec<BrandRequestsState> = {
  version: 1,
  encode: ({ requests }) => requests.toJson(),
  decode: (json) => ({ requests: PersistentMap.fromJson(json as PersistentMapJson) }),
};

export const brandRequests: Decider<BrandRequestsState, BrandRequestEvent> = { initial, evolve, snapshot };

/** One id per workspace and domain. */
export const brandRequestIdOf = (workspaceId: string, domain: string): string =>
  derivedId('brand_request', `${workspaceId}|${domain}`);

export const isOpenRequest = ({ status }: Pick<BrandRequestState, 'status'>): boolean =>
  status === 'requested' || status === 'collecting';

/** Requests of the plan's allowance that are not ready yet. */
export const countAcceptedByPlan = ({ requests }: BrandRequestsState): number =>
  [...requests].filter(([, { status, accepted_by }]) => status === 'collecting' && accepted_by === 'plan')
    .length;

export type RequestBrandInput = Omit<
  BrandRequested['data'],
  'request_id' | 'brand_id' | 'requested_by' | 'requested_at'
> & {
  readonly plan: Plan;
  /** Address of the brand if the domain has one already. */
  readonly knownUrl: string | null;
  readonly by: string;
  readonly at: string;
};

/** A domain that was requested before keeps its first request, also when that is ready or refused. */
export const requestBrand =
  (input: RequestBrandInput) =>
  (state: BrandRequestsState): readonly BrandRequestEvent[] => {
    const { plan, knownUrl, by, at, ...asked } = input;
    const { workspace_id, domain } = asked;
    const request_id = brandRequestIdOf(workspace_id, domain);
    const brand_id = brandIdOf(domain);
    if (state.requests.has(request_id)) return [];
    if (knownUrl !== null) {
      const message = `${domain} is a known brand: ${knownUrl}. Track it with its id, ${brand_id}.`;
      throw new Refusal('already_exists', message, [{ path: 'domain', message, code: 'brand_known' }]);
    }
    const open = [...state.requests].filter(([, request]) => isOpenRequest(request)).length;
    if (open >= BRAND_REQUESTS_OPEN_MAX) {
      throw new Refusal(
        'limit_reached',
        `A workspace can have at most ${BRAND_REQUESTS_OPEN_MAX} open brand requests. Wait until one is ready or refused.`,
      );
    }
    if (state.requests.size >= BRAND_REQUESTS_MAX) {
      throw new Refusal(
        'limit_reached',
        `A workspace can make at most ${BRAND_REQUESTS_MAX} brand requests.`,
      );
    }
    const requested: BrandRequestEvent = {
      type: 'BrandRequested',
      data: { ...asked, request_id, brand_id, requested_by: by, requested_at: at },
    };
    if (countAcceptedByPlan(state) >= ACCEPTED_AT_ONCE_MAX[plan]) return [requested];
    const accepted = { workspace_id, request_id, accepted_by: 'plan', accepted_at: at } as const;
    return [requested, { type: 'BrandRequestAccepted', data: accepted }];
  };

type OperatorInput = { readonly workspace_id: string; readonly request_id: string; readonly at: string };

const requireRequest = ({ requests }: BrandRequestsState, requestId: string): BrandRequestState => {
  const request = requests.get(requestId);
  if (!request) throw new Refusal('not_found', 'Brand request not found in this workspace.');
  return request;
};

/** Also accepts a refused request: an operator may decide again. */
export const acceptBrandRequest =
  ({ workspace_id, request_id, at }: OperatorInput) =>
  (state: BrandRequestsState): readonly BrandRequestEvent[] => {
    const { status } = requireRequest(state, request_id);
    if (status === 'collecting' || status === 'ready') return [];
    const data = { workspace_id, request_id, accepted_by: 'operator', accepted_at: at } as const;
    return [{ type: 'BrandRequestAccepted', data }];
  };

/** Also ends the collecting of an accepted request. */
export const refuseBrandRequest =
  ({ workspace_id, request_id, reason, at }: OperatorInput & { readonly reason: string }) =>
  (state: BrandRequestsState): readonly BrandRequestEvent[] => {
    const request = requireRequest(state, request_id);
    if (request.status === 'ready') {
      throw new Refusal('changed_meanwhile', 'The request is ready: the brand is known. Nothing is refused.');
    }
    if (request.status === 'refused' && request.reason === reason) return [];
    return [{ type: 'BrandRequestRefused', data: { workspace_id, request_id, reason, refused_at: at } }];
  };

/** A request that waits for an operator is ready too once its brand is registered. */
export const fulfilBrandRequest =
  (
    input: OperatorInput & {
      readonly slug: string;
      readonly tracking: Exclude<RequestedTracking, 'waiting'>;
    },
  ) =>
  (state: BrandRequestsState): readonly BrandRequestEvent[] => {
    const { workspace_id, request_id, slug, tracking, at } = input;
    if (!isOpenRequest(requireRequest(state, request_id))) return [];
    const data = { workspace_id, request_id, slug, tracking, fulfilled_at: at };
    return [{ type: 'BrandRequestFulfilled', data }];
  };
