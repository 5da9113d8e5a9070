import type { RadarItemType } from '#contracts/resources/workspace/radar.ts';
import type { Event } from '../event.ts';

/** Stream `report-<workspaceId>+<reportId>`: one CSV export of the radar, from request to file. */
export const REPORT = 'report';
export const reportStream = (workspaceId: string, reportId: string): string =>
  `${REPORT}-${workspaceId}+${reportId}`;

type Named = { readonly workspace_id: string; readonly report_id: string };
/** Which worker, and the how-manieth to try. */
type Attempted = Named & { readonly worker_id: string; readonly attempt: number };

export type ReportRequested = Event<
  'ReportRequested',
  Named & {
    /** Fixed when requested: what is tracked later changes no report. */
    readonly brand_ids: readonly string[];
    /** The request named no brands, which means all that were tracked then. */
    readonly all_tracked: boolean;
    readonly types: readonly RadarItemType[];
    /** Calendar dates in UTC, both included. */
    readonly from: string;
    readonly to: string;
    readonly requested_at: string;
  }
>;

/** A worker took it. Others keep off until `lease_until`, unless the worker extends it. */
export type ReportStarted = Event<
  'ReportStarted',
  Attempted & { readonly started_at: string; readonly lease_until: string }
>;

export type ReportLeaseExtended = Event<'ReportLeaseExtended', Attempted & { readonly lease_until: string }>;

/** The file is whole and in the object store under `object_key`. */
export type ReportFinished = Event<
  'ReportFinished',
  Attempted & {
    readonly object_key: string;
    readonly bytes: number;
    readonly rows: number;
    readonly sha256: string;
    readonly finished_at: string;
  }
>;

/** Queued again: tried once more from `retry_at` on. */
export type ReportAttemptFailed = Event<
  'ReportAttemptFailed',
  Attempted & { readonly reason: string; readonly failed_at: string; readonly retry_at: string }
>;

/** Given up. `reason` is a sentence for whoever asked for it. */
export type ReportFailed = Event<
  'ReportFailed',
  Attempted & { readonly reason: string; readonly failed_at: string }
>;

export type ReportEvent =
  | ReportRequested
  | ReportStarted
  | ReportLeaseExtended
  | ReportFinished
  | ReportAttemptFailed
  | ReportFailed;
