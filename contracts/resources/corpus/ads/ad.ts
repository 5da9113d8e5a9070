import { z } from 'zod';
import { CalendarDate, Count, Country, Timestamp } from '#contracts/values/primitives.ts';
import { BrandId, BrandReference } from '../brand.ts';
import {
  AdFormatName,
  AdId,
  AdTitle,
  Creative,
  CtaType,
  MediaKindName,
  PageOrNull,
  StartedOn,
} from './creative.ts';

export const AdStatus = z.enum(['active', 'missing', 'inactive']).meta({
  id: 'AdStatus',
  description:
    '`active`: shown by the last scan that covered its page; `missing`: not seen by it, but not confirmed inactive; `inactive`: stopped as the library says, or absent from complete scans at least 20 hours apart.',
});

const body = z.string().nullable().meta({ description: 'Text of the ad; null: none observed.' });
const cta_text = z.string().nullable().meta({
  description: 'Label of the button as shown, such as `Shop now`; null: none observed.',
});
const link_description = z.string().nullable().meta({
  description: 'Text below the headline; null: none observed.',
});
const destination_url = z
  .string()
  .nullable()
  .meta({ description: 'As the library shows it, URL macros included; null: no link observed.' });

export const adSummaryShape = {
  id: AdId,
  brand_id: BrandId,
  page: PageOrNull,
  status: AdStatus,
  format: AdFormatName,
  body,
  title: AdTitle,
  cta_type: CtaType,
  cta_text,
  destination_url,
  platforms: z.array(z.string()).meta({
    description:
      'Apps of the network that show it, such as `facebook` and `instagram`; empty: none observed.',
  }),
  countries: z.array(Country).meta({ description: 'Countries whose scans showed the ad.' }),
  started_on: StartedOn,
  stopped_on: CalendarDate.nullable().meta({
    description: 'Stop date as stated by the library; null when it stated none.',
  }),
  first_seen_at: Timestamp.meta({ description: 'Time of the first scan that showed the ad.' }),
  last_seen_at: Timestamp.meta({ description: 'Time of the newest scan that showed the ad.' }),
  days_active: Count.nullable().meta({
    description:
      'Days from the start date, else the first sighting, to the stop date, else the last sighting as running: observed survival, not performance. Null when it was never seen running and states no stop date.',
  }),
  library_url: z.url().meta({ description: 'The ad in the public library of the network.' }),
} as const;

export const AdSummary = z
  .strictObject(adSummaryShape)
  .meta({ id: 'AdSummary', description: 'An ad as the library showed it, as in lists.' });

/** `GET /v1/ads/{adId}/creatives` lists all of them. */
export const ARCHIVED_MEDIA_MAX = 100;

export const AdCopy = z
  .strictObject({ body, title: AdTitle, link_description, cta_text, destination_url })
  .meta({ id: 'AdCopy', description: 'A card of a carousel, or a version of the ad.' });

export const AdMedia = z
  .strictObject({
    kind: MediaKindName,
    source_url: z
      .string()
      .nullable()
      .meta({ description: 'URL of the file at the library; it expires; null: none shown.' }),
    poster_url: z
      .string()
      .nullable()
      .meta({ description: 'Still image of a video at the library; it expires; null: none shown.' }),
    archived_url: z.url().nullable().meta({
      description:
        'The archived file, when the ad shows exactly one file of this kind. Otherwise null: the library does not say which file is which, and `archived_media` lists all of them.',
    }),
  })
  .meta({ id: 'AdMedia', description: 'A picture or video that the library shows in the ad.' });

export const AdHistoryEntry = z
  .strictObject({
    at: Timestamp.meta({ description: 'Time of the scan that showed it.' }),
    change: z
      .enum([
        'started',
        'revised',
        'destination_changed',
        'confirmed_inactive',
        'returned',
        'corrected',
        'attributed',
      ])
      .meta({
        description: '`revised`: its copy, format or media changed; `returned`: it runs again after its end.',
      }),
    detail: z.record(z.string(), z.unknown()).meta({
      description:
        'Facts by name: of a revision each changed field with `from` and `to`, of an end its basis.',
    }),
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
    link_description,
    caption: z
      .string()
      .nullable()
      .meta({ description: 'The address as shown to viewers; null: none observed.' }),
    languages: z.array(z.string()).meta({
      description: 'Languages of the copy, as ISO 639 or codes of the network; empty: none observed.',
    }),
    media: z.array(AdMedia).meta({ description: 'Pictures and videos as the library shows them.' }),
    archived_media: z
      .array(Creative)
      .meta({ description: `Its archived files, at most ${ARCHIVED_MEDIA_MAX}; empty: none stored.` }),
    cards: z.array(AdCopy).meta({ description: 'Cards of a carousel in their order; empty for other ads.' }),
    versions: z.array(AdCopy).meta({
      description: 'Other texts and links that the network shows in turn; empty: none observed.',
    }),
    history: z.array(AdHistoryEntry).meta({ description: 'Newest first, at most 100 entries.' }),
  })
  .meta({ id: 'Ad', description: 'An ad with its full copy, files and history.' });
