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

/** `missing`: not seen by the last covering scan, but not confirmed inactive. */
export const AdStatus = z.enum(['active', 'missing', 'inactive']);

export const AdPage = z
  .strictObject({ page_id: LibraryId, page_name: z.string().nullable() })
  .meta({ id: 'AdPage', description: 'The social page that runs the ad: an association, not ownership.' });

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
