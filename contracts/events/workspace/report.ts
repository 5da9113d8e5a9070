import type { RadarItemType } from '#contracts/resources/workspace/radar.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `report-<workspaceId>+<reportId>`: one CSV export of the radar, from request to file. */
export const REPORT = 'report';
export const reportStream = (workspaceId: string, reportId: string): string =>
  `${REPORT}-${workspaceId}+${reportId}`;

type ReportKey = { readonly workspace_id: string; readonly report_id: string };
/** The worker and the number of its attempt. */
type ReportAttempt = ReportKey & { readonly worker_id: string; readonly attempt: number };

export type ReportRequested = Event<
  'ReportRequested',
  ReportKey & {
    /** Fixed at the time of the request. Brands tracked later are not added. */
    readonly brand_ids: readonly string[];
    /** The request named no brands, which selects all brands tracked at that time. */
    readonly all_tracked: boolean;
    readonly types: readonly RadarItemType[];
    /** Calendar dates in UTC, both inclusive. */
    readonly from: string;
    readonly to: string;
    readonly requested_at: string;
  }
>;

/** A worker claimed the report. Its lease ends at `lease_until`, unless the worker extends it. */
export type ReportStarted = Event<
  'ReportStarted',
  ReportAttempt & { readonly started_at: string; readonly lease_until: string }
>;

export type ReportLeaseExtended = Event<
  'ReportLeaseExtended',
  ReportAttempt & { readonly lease_until: string }
>;

/** The complete file is in the object store under `object_key`. */
export type ReportFinished = Event<
  'ReportFinished',
  ReportAttempt & {
    readonly object_key: string;
    readonly bytes: number;
    readonly rows: number;
    readonly sha256: string;
    readonly finished_at: string;
  }
>;

/** The attempt failed and the report is queued again. The next attempt starts at `retry_at` or later. */
export type ReportAttemptFailed = Event<
  'ReportAttemptFailed',
  ReportAttempt & { readonly reason: string; readonly failed_at: string; readonly retry_at: string }
>;

/** The report failed for good. `reason` is a sentence for the member who requested it. */
export type ReportFailed = Event<
  'ReportFailed',
  ReportAttempt & { readonly reason: string; readonly failed_at: string }
>;

export type ReportEvent =
  | ReportRequested
  | ReportStarted
  | ReportLeaseExtended
  | ReportFinished
  | ReportAttemptFailed
  | ReportFailed;

/** Schema versions: each type's upcasters, from version 1 on. */
export const reportVersions: EventVersions<ReportEvent> = {
  ReportRequested: [],
  ReportStarted: [],
  ReportLeaseExtended: [],
  ReportFinished: [],
  ReportAttemptFailed: [],
  ReportFailed: [],
};
