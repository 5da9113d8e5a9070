import type { CollectingForecast, RequestedTracking } from '#contracts/resources/workspace/brand-request.ts';
import type { Cadence } from '#contracts/values/primitives.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `brandRequests-<workspaceId>`: the brands that a workspace asked for. */
export const BRAND_REQUESTS = 'brandRequests';
export const brandRequestsStream = (workspaceId: string): string => `${BRAND_REQUESTS}-${workspaceId}`;

type RequestKey = { readonly workspace_id: string; readonly request_id: string };

export type BrandRequested = Event<
  'BrandRequested',
  RequestKey & {
    /** Id that the brand of the domain has, or will have. */
    readonly brand_id: string;
    readonly domain: string;
    readonly social_page_id: string | null;
    readonly track: boolean;
    readonly cadence: Cadence;
    /** Forecast in the reply to the request. */
    readonly forecast: CollectingForecast | null;
    readonly forecast_reason: string | null;
    readonly requested_by: string;
    readonly requested_at: string;
  }
>;
export type BrandRequestAccepted = Event<
  'BrandRequestAccepted',
  RequestKey & { readonly accepted_by: 'plan' | 'operator'; readonly accepted_at: string }
>;
export type BrandRequestRefused = Event<
  'BrandRequestRefused',
  RequestKey & { readonly reason: string; readonly refused_at: string }
>;
/** The brand of the domain was registered. */
export type BrandRequestFulfilled = Event<
  'BrandRequestFulfilled',
  RequestKey & {
    readonly slug: string;
    readonly tracking: Exclude<RequestedTracking, 'waiting'>;
    readonly fulfilled_at: string;
  }
>;
export type BrandRequestEvent =
  | BrandRequested
  | BrandRequestAccepted
  | BrandRequestRefused
  | BrandRequestFulfilled;

export const brandRequestVersions: EventVersions<BrandRequestEvent> = {
  BrandRequested: [],
  BrandRequestAccepted: [],
  BrandRequestRefused: [],
  BrandRequestFulfilled: [],
};
