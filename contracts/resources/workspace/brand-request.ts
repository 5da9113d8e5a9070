import { z } from 'zod';
import type { Plan } from '#contracts/events/workspace/workspace.ts';
import { Cadence, LibraryId, ObservedDomain, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandId } from '../corpus/brand.ts';

/** Requests of a workspace that are accepted at once and not ready yet. Others wait for an operator. */
export const ACCEPTED_AT_ONCE_MAX: Readonly<Record<Plan, number>> = {
  free: 1,
  pro: 5,
  business: 25,
  enterprise: 100,
};
/** Requests of a workspace that are neither ready nor refused. */
export const BRAND_REQUESTS_OPEN_MAX = 100;
/** All requests of a workspace. */
export const BRAND_REQUESTS_MAX = 10_000;
/** Reason of a refusal. */
export const REFUSAL_REASON_MAX_LENGTH = 500;

export const BrandRequestStatus = z.enum(['requested', 'collecting', 'ready', 'refused']).meta({
  id: 'BrandRequestStatus',
  description:
    '`requested` until an operator decides; `collecting` while collectors look at the domain; `ready` when the brand is known; `refused` by an operator.',
});
export type BrandRequestStatus = z.infer<typeof BrandRequestStatus>;

export const RequestedTracking = z.enum(['not_asked', 'waiting', 'tracked', 'no_slot']).meta({
  id: 'RequestedTracking',
  description:
    'What became of the wish to track the brand: `waiting` until the request is ready, `tracked` then, or `no_slot` when all slots of the plan were used.',
});
export type RequestedTracking = z.infer<typeof RequestedTracking>;

export const CollectingForecast = z
  .strictObject({
    calls: z.int().min(1).meta({
      description:
        'Requests that the first reading of the site and its shop takes. Calls to the ad library come on top: the number of ads is not known before.',
    }),
    days: z.number().min(0).meta({
      description:
        'Days in which collectors read everything once, this domain included, while they keep up with their work.',
    }),
  })
  .meta({ id: 'CollectingForecast', description: 'What the first reading of a domain costs.' });
export type CollectingForecast = z.infer<typeof CollectingForecast>;

const PageId = LibraryId.meta({ description: 'Id of a social page of the brand in the ad library.' });
const Track = z.boolean().meta({ description: 'Whether to track the brand as soon as it is ready.' });

export const RequestBrand = z
  .strictObject({
    domain: z
      .preprocess(
        (text) => (typeof text === 'string' ? text.toLowerCase().replace(/^www\./, '') : text),
        ObservedDomain,
      )
      .meta({ description: 'Domain of the brand, such as `shop.example`. A leading `www.` is dropped.' }),
    page_id: PageId.optional(),
    track: Track.default(false),
    cadence: Cadence.default('weekly'),
  })
  .meta({ id: 'RequestBrand', description: 'A brand that the service should come to know.' });

export const BrandRequest = z
  .strictObject({
    id: Uuid.meta({
      description: 'Stable id of the request, `{requestId}` in paths; the same for each request of a domain.',
    }),
    status: BrandRequestStatus,
    domain: z.string().meta({ description: 'Domain that was requested.' }),
    page_id: PageId.nullable().meta({ description: 'Social page that was named; null: none was.' }),
    track: Track,
    cadence: Cadence,
    tracking: RequestedTracking,
    forecast: CollectingForecast.nullable().meta({
      description: 'Forecast at the time of the request; null when none was possible.',
    }),
    forecast_reason: z
      .string()
      .nullable()
      .meta({ description: 'Why there is no forecast, as a sentence; null: there is one.' }),
    reason: z
      .string()
      .nullable()
      .meta({ description: "The operator's reason for a refusal; null: not refused." }),
    brand_id: BrandId.nullable().meta({ description: 'Id of the brand; null until the request is ready.' }),
    url: z.url().nullable().meta({ description: 'Address of the brand in this API; null until ready.' }),
    created_by: z.string().meta({ description: 'Id of the member who asked.' }),
    created_at: Timestamp.meta({ description: 'When it was requested.' }),
    decided_at: Timestamp.nullable().meta({
      description: 'When it was accepted or refused; null until then.',
    }),
    ready_at: Timestamp.nullable().meta({ description: 'When it became ready; null until then.' }),
  })
  .meta({ id: 'BrandRequest', description: 'A request for a brand that the service did not know.' });
export type BrandRequest = z.infer<typeof BrandRequest>;
