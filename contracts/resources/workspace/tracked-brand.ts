import { z } from 'zod';
import { Cadence, Timestamp, WorkspaceId } from '#contracts/values/primitives.ts';
import { BrandId, BrandReference, BrandSummary, Freshness } from '../corpus/brand.ts';

/** Specification, part "Resources and their fields". */

/** Overdue after this time without a reliable scan. */
export const SLO_HOURS: Readonly<Record<Cadence, number>> = { daily: 36, weekly: 192 };

const TrackedSince = Timestamp.meta({
  description: 'When tracking began; unchanged when the cadence changes.',
});

export const TrackBrand = z
  .strictObject({ brand_id: BrandId, cadence: Cadence.default('weekly') })
  .meta({ id: 'TrackBrand', description: 'The brand to track; a repeated request changes its cadence.' });

export const TrackedBrand = z
  .strictObject({
    brand_id: BrandId,
    workspace_id: WorkspaceId,
    cadence: Cadence,
    url: z.url().meta({ description: 'Address of the brand in this API.' }),
    created_at: TrackedSince,
  })
  .meta({ id: 'TrackedBrand', description: 'How the workspace tracks a brand.' });

export const TRACKED_AT_ONCE_MAX = 100;

export const TrackBrands = z
  .strictObject({
    brands: z
      .array(TrackBrand)
      .min(1)
      .max(TRACKED_AT_ONCE_MAX)
      .refine(
        (brands) => new Set(brands.map(({ brand_id }) => brand_id.toLowerCase())).size === brands.length,
        'must name each brand once',
      )
      .meta({ description: 'Brands to track, each named once.' }),
  })
  .meta({ id: 'TrackBrands', description: 'Brands to track in one request.' });

export const BulkTracked = z
  .strictObject({
    workspace_id: WorkspaceId,
    results: z
      .array(
        z.strictObject({
          brand_id: BrandId,
          result: z
            .enum(['tracked', 'cadence_changed', 'already_tracked', 'brand_unknown', 'no_slot'])
            .meta({ description: 'What happened to this brand. `no_slot`: all slots of the plan are used.' }),
          tracked_brand: TrackedBrand.nullable().meta({
            description: 'How the workspace tracks it now; null when it does not.',
          }),
        }),
      )
      .meta({ description: 'One of each brand, in the order of the request.' }),
  })
  .meta({ id: 'BulkTracked', description: 'What a request for several brands did.' });
export type BulkTracked = z.infer<typeof BulkTracked>;

export const TrackedBrandListItem = z
  .strictObject({ brand: BrandSummary, cadence: Cadence, created_at: TrackedSince, freshness: Freshness })
  .meta({ id: 'TrackedBrandListItem', description: 'A brand that the workspace tracks.' });

export const TrackedBrandFreshness = z
  .strictObject({
    brand: BrandReference,
    cadence: Cadence,
    freshness: Freshness,
    slo_hours: z.int().min(1).meta({
      description:
        'Hours without a reliable scan until the promise is broken: 36 for a daily cadence, 192 for a weekly one.',
    }),
    hours_since_reliable: z.int().min(0).meta({
      description: 'Whole hours since the last reliable scan; since tracking began when there was none.',
    }),
    slo_status: z
      .enum(['ok', 'breached'])
      .meta({ description: '`breached` when `hours_since_reliable` exceeds `slo_hours`.' }),
  })
  .meta({
    id: 'TrackedBrandFreshness',
    description: 'Whether a tracked brand is scanned as often as promised.',
  });

export const UntrackBrand = z.strictObject({}).meta({ id: 'UntrackBrand', description: 'An empty object.' });

export const UntrackedBrand = z
  .strictObject({
    brand_id: BrandId,
    workspace_id: WorkspaceId,
    removed: z.boolean().meta({ description: 'False when the brand was not tracked.' }),
  })
  .meta({ id: 'UntrackedBrand', description: 'The result of untracking a brand.' });
