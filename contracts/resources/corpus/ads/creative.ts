import { z } from 'zod';
import { CREATIVE_KEY, MEDIA_KINDS } from '#contracts/values/media/creatives.ts';
import { AdFormat, CalendarDate, Count, LibraryId, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandId, BrandReference, Formats } from '../brand.ts';

export const PageId = LibraryId.meta({
  description: "The network's id of the page: digits, beyond 2^53, hence a string.",
});
export const PageName = z
  .string()
  .nullable()
  .meta({ description: 'As last observed; null: never observed.' });

export const AdPage = z
  .strictObject({ page_id: PageId, page_name: PageName })
  .meta({ id: 'AdPage', description: 'The social page that runs the ad: an association, not ownership.' });

export const AdId = LibraryId.meta({
  description: "The library's id of the ad: digits, beyond 2^53, hence a string.",
});
export const AdTitle = z
  .string()
  .nullable()
  .meta({ description: 'Headline of the ad; null: none observed.' });
export const CtaType = z.string().nullable().meta({
  description: "The library's code of the button, such as `SHOP_NOW`; null: none observed.",
});
export const StartedOn = CalendarDate.nullable().meta({
  description: 'Start date in the library; null: it states none.',
});
export const PageOrNull = AdPage.nullable().meta({
  description: 'The social page that runs the ad; null when no source named it.',
});
export const CreativeId = Uuid.meta({ description: 'Id of the file in this ad, `{creativeId}` in paths.' });

export const CreativeKey = z
  .string()
  .regex(CREATIVE_KEY)
  .meta({ description: 'SHA-256 of the file, in hex.' });
export const AdFormatName = AdFormat.meta({ id: 'AdFormat' });
export const MediaKindName = z
  .enum(MEDIA_KINDS)
  .meta({ id: 'MediaKind', description: 'What kind of file it is.' });

const Pixels = Count.nullable().meta({ description: 'In pixels; null: not measured.' });

/** All schemas that show a file use these fields. */
export const mediaShape = {
  creative_key: CreativeKey,
  media_kind: MediaKindName,
  content_type: z
    .string()
    .nullable()
    .meta({ description: 'Media type, such as `video/mp4`; null: not measured.' }),
  bytes: Count.nullable().meta({ description: 'Size of the file in bytes; null: not measured.' }),
  width: Pixels,
  height: Pixels,
  duration_seconds: z
    .number()
    .min(0)
    .nullable()
    .meta({ description: 'Length of a video in seconds; null: an image, or not measured.' }),
  media_url: z.url().nullable().meta({ description: 'URL of the stored file; null when it is not stored.' }),
  poster_url: z.url().nullable().meta({ description: 'Still image of the file; null when none is stored.' }),
} as const;

export const Creative = z
  .strictObject({
    id: CreativeId,
    ad_id: AdId,
    brand_id: Uuid.meta({ description: 'The brand that the ad is attributed to.' }),
    ...mediaShape,
    ad_active: z.boolean().meta({ description: 'Whether the ad is not confirmed inactive.' }),
    first_seen_at: Timestamp.meta({ description: 'When the ad was first seen to carry the file.' }),
    as_of: Timestamp.meta({
      description: 'When a measurement or analysis of the file last found something new.',
    }),
    url: z.url().meta({ description: 'Address of the asset in this API.' }),
    record_url: z
      .url()
      .meta({ description: "URL of the file's record, shared by all ads that carry the file." }),
  })
  .meta({ id: 'Creative', description: 'An archived creative asset: one stored file in one ad.' });

const PixelsOfFile = Pixels.meta({
  description: 'Of the file, not of the thumbnail; in pixels; null: not measured.',
});
export const Thumb = z
  .strictObject({
    creative_id: CreativeId,
    creative_key: CreativeKey,
    ad_id: LibraryId.meta({ description: "The brand's newest live ad that carries the file." }),
    media_kind: MediaKindName,
    image_url: z.url().meta({
      description:
        'The stored thumbnail, at most 320 pixels wide and high; else the stored poster, else the image.',
    }),
    width: PixelsOfFile,
    height: PixelsOfFile,
    started_on: CalendarDate.meta({
      description: 'Start date of that ad; its first sighting when the library states none.',
    }),
  })
  .meta({ id: 'Thumb', description: 'A still image of a live creative.' });

export const BrandThumbs = z
  .strictObject({
    brand_id: BrandId,
    thumbs: z
      .array(Thumb)
      .max(4)
      .meta({ description: 'Up to four still images, newest first; empty when none is stored.' }),
  })
  .meta({ id: 'BrandThumbs', description: 'The newest live creatives of one requested brand.' });

/** An ad as other records show it. */
export const adExcerptShape = {
  id: AdId,
  page: PageOrNull,
  format: AdFormatName,
  title: AdTitle,
  body: z.string().nullable().meta({ description: 'The first 300 characters; null: none observed.' }),
} as const;

export const LibraryAd = z
  .strictObject({
    ...adExcerptShape,
    cta_type: CtaType,
    started_on: StartedOn,
    days_active: Count.nullable().meta({
      description:
        'Days from the start date, else the first sighting, to the last sighting as running: observed survival, not performance. Null when it was never seen running.',
    }),
    creatives: z.array(Creative).meta({ description: 'Its archived assets, at most four.' }),
    url: z.url().meta({ description: 'Address of the ad in this API.' }),
  })
  .meta({ id: 'LibraryAd', description: 'A sampled active ad with its archived files.' });

export const CreativeLibrary = z
  .strictObject({
    brand: BrandReference,
    sample_cap: z.int().min(1).meta({ description: 'Maximum ads in both samples together.' }),
    longest_running: z.array(LibraryAd).meta({ description: 'Active ads with stored media, oldest first.' }),
    newest: z.array(LibraryAd).meta({
      description: 'Active ads with stored media, newest first; excludes ads of the oldest sample.',
    }),
    totals: z
      .strictObject({
        active_ads: Count.meta({ description: 'All active ads, with stored media or without.' }),
        with_stored_media: Count.meta({ description: 'Active ads with at least one archived file.' }),
        formats: Formats,
        ctas: z
          .array(
            z.strictObject({
              cta_type: CtaType,
              ads: Count.meta({ description: 'Active ads with this button.' }),
            }),
          )
          .meta({ description: 'Active ads by button, most ads first, at most 20.' }),
        longevity: z
          .strictObject({
            days_0_6: Count.meta({ description: 'Active ads that have run for less than 7 days.' }),
            days_7_29: Count.meta({ description: 'Active ads that have run for 7 to 29 days.' }),
            days_30_89: Count.meta({ description: 'Active ads that have run for 30 to 89 days.' }),
            days_90_plus: Count.meta({ description: 'Active ads that have run for 90 days or more.' }),
            longest_days: Count.nullable().meta({
              description: 'Days of the longest-running one; null without an active ad.',
            }),
          })
          .meta({
            description:
              "Active ads by days from start, or first sighting, to the brand's last scan: survival, not performance.",
          }),
      })
      .meta({ description: 'Figures over all active ads, not over the samples.' }),
  })
  .meta({ id: 'CreativeLibrary', description: 'A sample of the active ads of a brand, with totals.' });
