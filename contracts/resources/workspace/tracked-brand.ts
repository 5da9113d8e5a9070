import { z } from 'zod';
import { Cadence, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandReference, BrandSummary, Freshness } from '../corpus/brand.ts';

/** Specification, part "Resources and their fields". */

/** Overdue after this time without a reliable scan. */
export const SLO_HOURS: Readonly<Record<Cadence, number>> = { daily: 36, weekly: 192 };

export const TrackBrand = z
  .strictObject({
    brand_id: Uuid,
    cadence: Cadence.default('weekly').meta({ description: 'How often the brand is scanned.' }),
  })
  .meta({ id: 'TrackBrand' });

export const TrackedBrand = z
  .strictObject({
    brand_id: Uuid,
    workspace_id: z.string(),
    cadence: Cadence,
    url: z.url().meta({ description: 'The brand in this service.' }),
    created_at: Timestamp.meta({ description: 'When tracking began; unchanged when the cadence changes.' }),
  })
  .meta({ id: 'TrackedBrand' });

export const TrackedBrandListItem = z
  .strictObject({ brand: BrandSummary, cadence: Cadence, created_at: Timestamp, freshness: Freshness })
  .meta({ id: 'TrackedBrandListItem' });

export const TrackedBrandFreshness = z
  .strictObject({
    brand: BrandReference,
    cadence: Cadence,
    freshness: Freshness,
    slo_hours: z.int().min(1).meta({ description: '36 for a daily cadence, 192 for a weekly one.' }),
    hours_since_reliable: z.int().min(0).meta({
      description: 'Whole hours since the last reliable scan; since tracking began when there was none.',
    }),
    slo_status: z.enum(['ok', 'breached']),
  })
  .meta({ id: 'TrackedBrandFreshness' });

export const UntrackBrand = z.strictObject({}).meta({ id: 'UntrackBrand', description: 'An empty object.' });

export const UntrackedBrand = z
  .strictObject({
    brand_id: Uuid,
    workspace_id: z.string(),
    removed: z.boolean().meta({ description: 'False when the brand was not tracked.' }),
  })
  .meta({ id: 'UntrackedBrand' });
