import { z } from 'zod';
import { CREATIVE_KEY, MEDIA_KINDS } from '#contracts/values/media/creatives.ts';
import { AdFormat, CalendarDate, Count, LibraryId, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandReference, Formats } from '../brand.ts';

export const AdPage = z
  .strictObject({ page_id: LibraryId, page_name: z.string().nullable() })
  .meta({ id: 'AdPage', description: 'The social page that runs the ad: an association, not ownership.' });

export const CreativeKey = z
  .string()
  .regex(CREATIVE_KEY)
  .meta({ description: 'SHA-256 of the file, in hex.' });
export const MediaKindName = z.enum(MEDIA_KINDS);

/** All schemas that show a file use these fields. */
export const mediaShape = {
  creative_key: CreativeKey,
  media_kind: MediaKindName,
  content_type: z.string().nullable(),
  bytes: Count.nullable().meta({ description: 'Null, here and below: not measured.' }),
  width: Count.nullable().meta({ description: 'In pixels.' }),
  height: Count.nullable().meta({ description: 'In pixels.' }),
  duration_seconds: z.number().min(0).nullable().meta({ description: 'Of a video.' }),
  media_url: z.url().nullable().meta({ description: 'URL of the stored file.' }),
  poster_url: z.url().nullable().meta({ description: 'Still image of the file; null when none is stored.' }),
} as const;

export const Creative = z
  .strictObject({
    id: Uuid,
    ad_id: LibraryId,
    brand_id: Uuid.meta({ description: 'The brand that the ad is attributed to.' }),
    ...mediaShape,
    ad_active: z.boolean().meta({ description: 'Whether the ad is not confirmed inactive.' }),
    first_seen_at: Timestamp.meta({ description: 'When the ad was first seen to carry the file.' }),
    as_of: Timestamp.meta({
      description: 'When a measurement or analysis of the file last found something new.',
    }),
    url: z.url().meta({ description: 'The asset in this service.' }),
    record_url: z
      .url()
      .meta({ description: "URL of the file's record, shared by all ads that carry the file." }),
  })
  .meta({ id: 'Creative', description: 'An archived creative asset: one stored file in one ad.' });

export const Thumb = z
  .strictObject({
    creative_id: Uuid,
    creative_key: CreativeKey,
    ad_id: LibraryId.meta({ description: "The brand's newest live ad that carries the file." }),
    media_kind: MediaKindName,
    image_url: z.url().meta({
      description:
        'The stored thumbnail, at most 320 pixels wide and high; else the stored poster, else the image.',
    }),
    width: Count.nullable(),
    height: Count.nullable(),
    started_on: CalendarDate.meta({
      description: 'Start date of that ad; its first sighting when the library states none.',
    }),
  })
  .meta({ id: 'Thumb' });

export const BrandThumbs = z
  .strictObject({
    brand_id: Uuid,
    thumbs: z.array(Thumb).max(4).meta({ description: 'Newest first; empty when none is stored.' }),
  })
  .meta({ id: 'BrandThumbs' });

export const LibraryAd = z
  .strictObject({
    id: LibraryId,
    page: AdPage.nullable(),
    format: AdFormat,
    title: z.string().nullable(),
    body: z.string().nullable().meta({ description: 'The first 300 characters.' }),
    cta_type: z.string().nullable(),
    started_on: CalendarDate.nullable(),
    days_active: Count.nullable().meta({
      description:
        'Days from the start date, else the first sighting, to the last sighting as running: observed survival, not performance.',
    }),
    creatives: z.array(Creative).meta({ description: 'Its archived assets, at most four.' }),
    url: z.url().meta({ description: 'The ad in this service.' }),
  })
  .meta({ id: 'LibraryAd' });

export const CreativeLibrary = z
  .strictObject({
    brand: BrandReference,
    sample_cap: z.int().min(1).meta({ description: 'Maximum ads in both samples together.' }),
    longest_running: z.array(LibraryAd).meta({ description: 'Active ads with stored media, oldest first.' }),
    newest: z.array(LibraryAd).meta({
      description: 'Active ads with stored media, newest first; excludes ads of the oldest sample.',
    }),
    totals: z.strictObject({
      active_ads: Count.meta({ description: 'Over all active ads, with stored media or without.' }),
      with_stored_media: Count,
      formats: Formats,
      ctas: z
        .array(z.strictObject({ cta_type: z.string().nullable(), ads: Count }))
        .meta({ description: 'Most ads first, at most 20; null: not analysed.' }),
      longevity: z
        .strictObject({
          days_0_6: Count,
          days_7_29: Count,
          days_30_89: Count,
          days_90_plus: Count,
          longest_days: Count.nullable(),
        })
        .meta({
          description:
            "Active ads by days from start, or first sighting, to the brand's last scan: survival, not performance.",
        }),
    }),
  })
  .meta({ id: 'CreativeLibrary' });
