import { z } from 'zod';
import {
  AdFormat,
  CalendarDate,
  Count,
  Country,
  LibraryId,
  Timestamp,
  Uuid,
} from '#contracts/values/primitives.ts';
import { BrandReference } from '../brand.ts';
import { AdPage, Creative } from './creative.ts';

/** `missing`: not seen by the last covering scan, but not confirmed inactive. */
export const AdStatus = z.enum(['active', 'missing', 'inactive']);

export const adSummaryShape = {
  id: LibraryId.meta({ description: "The library's id: digits, beyond 2^53, hence a string." }),
  brand_id: Uuid,
  page: AdPage.nullable(),
  status: AdStatus,
  format: AdFormat,
  body: z.string().nullable(),
  title: z.string().nullable(),
  cta_type: z.string().nullable(),
  cta_text: z.string().nullable(),
  destination_url: z
    .string()
    .nullable()
    .meta({ description: 'As the library shows it, URL macros included.' }),
  platforms: z.array(z.string()),
  countries: z.array(Country).meta({ description: 'Countries whose scans showed the ad.' }),
  started_on: CalendarDate.nullable().meta({ description: 'Start date in the library.' }),
  stopped_on: CalendarDate.nullable().meta({
    description: 'Stop date as stated by the library; null when it stated none.',
  }),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  days_active: Count.nullable().meta({
    description:
      'Days from the start date, else the first sighting, to the stop date, else the last sighting as running: observed survival, not performance.',
  }),
  library_url: z.url(),
} as const;

export const AdSummary = z.strictObject(adSummaryShape).meta({ id: 'AdSummary' });

/** `GET /v1/ads/{adId}/creatives` lists all of them. */
export const ARCHIVED_MEDIA_MAX = 100;

export const AdCopy = z
  .strictObject({
    body: z.string().nullable(),
    title: z.string().nullable(),
    link_description: z.string().nullable(),
    cta_text: z.string().nullable(),
    destination_url: z.string().nullable(),
  })
  .meta({ id: 'AdCopy', description: 'A card of a carousel, or a version of the ad.' });

export const AdMedia = z
  .strictObject({
    kind: z.enum(['image', 'video']),
    source_url: z.string().nullable().meta({ description: 'URL of the file at the library; it expires.' }),
    poster_url: z.string().nullable(),
    archived_url: z.url().nullable().meta({
      description:
        'The archived file, when the ad shows exactly one file of this kind. Otherwise null: the library does not say which file is which, and `archived_media` lists all of them.',
    }),
  })
  .meta({ id: 'AdMedia' });

export const AdHistoryEntry = z
  .strictObject({
    at: Timestamp,
    change: z.enum([
      'started',
      'revised',
      'destination_changed',
      'confirmed_inactive',
      'returned',
      'corrected',
      'attributed',
    ]),
    detail: z.record(z.string(), z.unknown()),
  })
  .meta({
    id: 'AdHistoryEntry',
    description:
      'One observed change. `corrected`: a scan that arrived late changed what was recorded; `attributed`: the ad moved to another brand. Neither is news.',
  });

export const Ad = z
  .strictObject({
    ...adSummaryShape,
    brand: BrandReference,
    link_description: z.string().nullable(),
    caption: z.string().nullable(),
    languages: z.array(z.string()),
    media: z.array(AdMedia).meta({ description: 'As the library shows it.' }),
    archived_media: z
      .array(Creative)
      .meta({ description: `Its archived files, at most ${ARCHIVED_MEDIA_MAX}; empty: none stored.` }),
    cards: z.array(AdCopy),
    versions: z.array(AdCopy),
    history: z.array(AdHistoryEntry).meta({ description: 'Newest first, at most 100 entries.' }),
  })
  .meta({ id: 'Ad' });
