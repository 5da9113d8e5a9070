import { z } from 'zod';
import { CalendarDate, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandReference } from '../corpus/brand.ts';
import { adExcerptShape, StartedOn } from '../corpus/ads/creative.ts';

export const RadarItemType = z.enum(['ad_started', 'ad_stopped', 'destination_changed']).meta({
  id: 'RadarItemType',
  description: 'An ad seen for the first time that is news, an ad confirmed inactive, or a changed link.',
});
export type RadarItemType = z.infer<typeof RadarItemType>;

export const RadarCorrection = z
  .enum(['withdrawn', 'added', 'changed'])
  .meta({ id: 'RadarCorrection', description: 'How a scan that arrived late corrects what was reported.' });
export type RadarCorrection = z.infer<typeof RadarCorrection>;

export const RadarItem = z
  .strictObject({
    id: Uuid.meta({ description: 'Stable id: derived from the change.' }),
    type: RadarItemType,
    observed_at: Timestamp.meta({ description: 'Time of the scan that showed the change.' }),
    brand: BrandReference,
    ad: z
      .strictObject({
        ...adExcerptShape,
        started_on: StartedOn,
        url: z.url().meta({ description: 'Address of the ad in this API.' }),
      })
      .meta({ description: 'The ad that changed, as it was then.' }),
    destination_url: z
      .string()
      .nullable()
      .meta({ description: 'Destination of the ad; after a change, the new one; null: no link observed.' }),
    previous_destination_url: z
      .string()
      .nullable()
      .meta({ description: 'Destination before the change; null for other types.' }),
    basis: z.enum(['library', 'absence']).nullable().meta({
      description:
        'Basis of a stop: stated by the library, or absence from two complete scans; null for other types.',
    }),
    stopped_on: CalendarDate.nullable().meta({
      description: 'Stop date as stated by the library; null when it stated none, and for other types.',
    }),
    correction: RadarCorrection.nullable().meta({
      description:
        'Correction by a scan that arrived late. `withdrawn`: reported, but wrong in the order of observation. `added`: right in that order, but not reported at the time. `changed`: reported with other details, such as another previous destination, or for another brand. Null: reported and not corrected.',
    }),
  })
  .meta({ id: 'RadarItem', description: 'An observed change of one ad, without a cause.' });
export type RadarItem = z.infer<typeof RadarItem>;
