import { z } from 'zod';
import { CalendarDate, Count, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { observedText } from '#contracts/values/text.ts';
import { RadarItemType } from './radar.ts';

/** Specification, part "Endpoints". */

/** First and last day included. */
export const REPORT_DAYS_MAX = 31;
/** Reports queued or running, and reports requested in 24 hours. */
export const REPORTS_QUEUED_MAX = 50;
export const REPORTS_PER_DAY_MAX = 500;
/** More than one a day for fifty years. */
export const REPORTS_KEPT_MAX = 20_000;
/** The library holds nothing older. */
export const REPORT_FROM_EARLIEST = '2000-01-01';
/** A request without brands covers all tracked brands. */
export const REPORT_BRANDS_MAX = 1_000;
export const REPORT_IDEMPOTENCY_KEY_MAX = 200;
/** Counted from the response that contains the `download_url`. */
export const DOWNLOAD_LINK_MINUTES = 15;

export const ReportStatus = z.enum(['queued', 'running', 'ready', 'failed']);
export type ReportStatus = z.infer<typeof ReportStatus>;

/** In file order. `item_id` is the id of the radar item, `correction` its mark. */
export const REPORT_COLUMNS = [
  'observed_at',
  'type',
  'brand_id',
  'brand_slug',
  'brand_name',
  'ad_id',
  'page_id',
  'page_name',
  'format',
  'title',
  'body',
  'started_on',
  'stopped_on',
  'basis',
  'destination_url',
  'previous_destination_url',
  'item_id',
  'correction',
] as const;

export const RequestReport = z
  .strictObject({
    brand_ids: z
      .array(Uuid)
      .min(1)
      .max(REPORT_BRANDS_MAX)
      .optional()
      .meta({ description: 'Tracked brands only. All of them when absent.' }),
    from: CalendarDate.refine((date) => date >= REPORT_FROM_EARLIEST, {
      error: `not before ${REPORT_FROM_EARLIEST}`,
    }).meta({ description: `First day, in UTC, not before ${REPORT_FROM_EARLIEST}.` }),
    to: CalendarDate.meta({
      description: `Last day, in UTC, included; at most ${REPORT_DAYS_MAX} days in all, none in the future.`,
    }),
    types: z
      .array(RadarItemType)
      .min(1)
      .max(RadarItemType.options.length)
      .optional()
      .meta({ description: 'Only these types. All of them when absent.' }),
    idempotency_key: observedText(REPORT_IDEMPOTENCY_KEY_MAX).min(1).optional().meta({
      description: 'A repeated key returns the report that it created before in this workspace.',
    }),
  })
  .meta({ id: 'RequestReport', description: 'Which part of the radar to export.' });

export const Report = z
  .strictObject({
    id: Uuid.meta({ description: 'Stable id of the report, `{reportId}` in paths.' }),
    status: ReportStatus.meta({
      description:
        '`queued` until a worker starts it, and again after a failed attempt; then `running`; finally `ready` or `failed`.',
    }),
    from: CalendarDate.meta({ description: 'First day, in UTC.' }),
    to: CalendarDate.meta({ description: 'Last day, in UTC, included.' }),
    brand_ids: z
      .array(Uuid)
      .nullable()
      .meta({ description: 'Brands that were requested; null for all brands tracked at the time.' }),
    brands: Count.meta({ description: 'How many brands it is about.' }),
    types: z.array(RadarItemType).meta({ description: 'Types of radar items in the file.' }),
    created_at: Timestamp.meta({ description: 'When it was requested.' }),
    started_at: Timestamp.nullable().meta({ description: 'When the latest attempt began; null until then.' }),
    finished_at: Timestamp.nullable().meta({
      description: 'When it became ready or failed for good; null until then.',
    }),
    failure: z
      .string()
      .nullable()
      .meta({ description: 'Why the latest attempt failed, as a sentence; null: it did not.' }),
    rows: Count.nullable().meta({ description: 'Radar items in the file; null until ready.' }),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable()
      .meta({ description: 'Checksum of the file in hex; null until ready.' }),
    size_bytes: Count.nullable().meta({ description: 'Length of the file; null until ready.' }),
    download_url: z
      .url()
      .nullable()
      .meta({
        description: `Address of the file, which needs no API key and works for ${DOWNLOAD_LINK_MINUTES} minutes; null until ready. Read the report again for a fresh one.`,
      }),
    download_expires_at: Timestamp.nullable().meta({
      description: 'When `download_url` stops working; null without one.',
    }),
  })
  .meta({ id: 'Report', description: 'An export of the radar as a CSV file.' });
export type Report = z.infer<typeof Report>;
