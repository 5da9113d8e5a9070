import type { RadarItemType } from '#contracts/resources/workspace/radar.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';
import type { Restated } from './restated.ts';

/** Stream `report-<workspaceId>+<reportId>`: one CSV export of the radar, from request to file. */
export const REPORT = 'report';
export const reportStream = (workspaceId: string, reportId: string): string =>
  `${REPORT}-${workspaceId}+${reportId}`;

type ReportKey = { readonly workspace_id: string; readonly report_id: string };
/** `attempt` is the number of the worker's attempt. */
type ReportAttempt = ReportKey & { readonly worker_id: string; readonly attempt: number };

export type ReportRequested = Event<
  'ReportRequested',
  ReportKey & {
    /** Fixed at the request. Brands tracked later are not added. */
    readonly brand_ids: readonly string[];
    readonly all_tracked: boolean;
    readonly types: readonly RadarItemType[];
    /** Calendar dates in UTC, both inclusive. */
    readonly from: string;
    readonly to: string;
    readonly requested_at: string;
  }
>;

/** The lease ends at `lease_until`, unless the worker extends it. */
export type ReportStarted = Event<
  'ReportStarted',
  ReportAttempt & { readonly started_at: string; readonly lease_until: string }
>;

export type ReportLeaseExtended = Event<
  'ReportLeaseExtended',
  ReportAttempt & { readonly lease_until: string }
>;

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

/** The report is queued again; the next attempt starts at `retry_at` or later. */
export type ReportAttemptFailed = Event<
  'ReportAttemptFailed',
  ReportAttempt & { readonly reason: string; readonly failed_at: string; readonly retry_at: string }
>;

/** Final. `reason` is a sentence for the member who requested the report. */
export type ReportFailed = Event<
  'ReportFailed',
  ReportAttempt & { readonly reason: string; readonly failed_at: string }
>;

/** The radar of the window differs from the file with its earlier restatements. The file itself stays as it was written. */
export type ReportRestated = Event<'ReportRestated', ReportKey & Restated>;

export type ReportEvent =
  | ReportRequested
  | ReportStarted
  | ReportLeaseExtended
  | ReportFinished
  | ReportAttemptFailed
  | ReportFailed
  | ReportRestated;

export const reportVersions: EventVersions<ReportEvent> = {
  ReportRequested: [],
  ReportStarted: [],
  ReportLeaseExtended: [],
  ReportFinished: [],
  ReportAttemptFailed: [],
  ReportFailed: [],
  ReportRestated: [],
};
