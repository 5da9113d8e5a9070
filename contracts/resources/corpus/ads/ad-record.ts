import { z } from 'zod';
import { Timestamp } from '#contracts/values/primitives.ts';
import { adSummaryShape } from './ad.ts';
import { BrandReference } from '../brand.ts';
import { Creative } from './creative.ts';

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
