import { z } from 'zod';
import { AdFormat, CalendarDate, LibraryId, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandReference } from '../corpus/brand.ts';
import { AdPage } from '../corpus/ads/creative.ts';

export const RadarItemType = z.enum(['ad_started', 'ad_stopped', 'destination_changed']);
export type RadarItemType = z.infer<typeof RadarItemType>;

/** A late scan corrects the item. */
export const RadarCorrection = z.enum(['withdrawn', 'added', 'changed']);
export type RadarCorrection = z.infer<typeof RadarCorrection>;

/** An observed change without a cause. */
export const RadarItem = z
  .strictObject({
    id: Uuid,
    type: RadarItemType,
    observed_at: Timestamp.meta({ description: 'Time of the scan that showed the change.' }),
    brand: BrandReference,
    ad: z.strictObject({
      id: LibraryId,
      page: AdPage.nullable(),
      format: AdFormat,
      title: z.string().nullable(),
      body: z.string().nullable().meta({ description: 'The first 300 characters.' }),
      started_on: CalendarDate.nullable(),
      url: z.url().meta({ description: 'The ad in this service.' }),
    }),
    destination_url: z
      .string()
      .nullable()
      .meta({ description: 'Destination of the ad; after a change, the new one.' }),
    previous_destination_url: z.string().nullable(),
    basis: z
      .enum(['library', 'absence'])
      .nullable()
      .meta({ description: 'Basis of a stop: stated by the library, or absence from two complete scans.' }),
    stopped_on: CalendarDate.nullable(),
    correction: RadarCorrection.nullable().meta({
      description:
        'Correction by a scan that arrived late. `withdrawn`: reported, but wrong in the order of observation. `added`: right in that order, but not reported at the time. `changed`: reported with other details, such as another previous destination, or for another brand. Null: reported and not corrected.',
    }),
  })
  .meta({ id: 'RadarItem' });
export type RadarItem = z.infer<typeof RadarItem>;
