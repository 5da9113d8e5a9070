import { DAY_MS, utcDate } from '#contracts/values/time.ts';
import { type ErrorDetail, Refusal } from '#contracts/errors.ts';
import type { ReportEvent, ReportFinished, ReportRequested } from '#contracts/events/workspace/report.ts';
import type { RadarItemType } from '#contracts/resources/workspace/radar.ts';
import {
  REPORT_DAYS_MAX,
  REPORTS_KEPT_MAX,
  REPORTS_PER_DAY_MAX,
  REPORTS_QUEUED_MAX,
  type ReportStatus,
} from '#contracts/resources/workspace/report.ts';
import type { Decider } from '../decider.ts';
import { type Compared, restate, takeRestated, type Told } from './restatement.ts';

/** Aggregate report, stream `report-<workspaceId>+<reportId>`: one CSV export, leased to one worker at a time. */

export type RequestedReport = {
  readonly request: ReportRequested['data'];
  readonly status: ReportStatus;
  readonly attempt: number;
  readonly worker_id: string | null;
  /** Retry time while queued, end of the lease while running. */
  readonly claimable_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly file: Pick<ReportFinished['data'], 'object_key' | 'bytes' | 'rows' | 'sha256'> | null;
  readonly failure: string | null;
  readonly told: Told | null;
};
export type ReportState = RequestedReport | null;

const initial = null as ReportState;

const evolve = (state: ReportState, event: ReportEvent): ReportState => {
  if (event.type === 'ReportRequested') {
    return {
      request: event.data,
      status: 'queued',
      attempt: 0,
      worker_id: null,
      claimable_at: event.data.requested_at,
      started_at: null,
      finished_at: null,
      file: null,
      failure: null,
      told: null,
    };
  }
  if (!state) return state;
  switch (event.type) {
    case 'ReportStarted': {
      const { worker_id, attempt, started_at, lease_until } = event.data;
      return { ...state, status: 'running', worker_id, attempt, started_at, claimable_at: lease_until };
    }
    case 'ReportLeaseExtended':
      return { ...state, claimable_at: event.data.lease_until };
    case 'ReportFinished': {
      const { object_key, bytes, rows, sha256, finished_at } = event.data;
      const file = { object_key, bytes, rows, sha256 };
      return { ...state, status: 'ready', finished_at, file, failure: null };
    }
    case 'ReportAttemptFailed': {
      const { reason, retry_at } = event.data;
      return { ...state, status: 'queued', worker_id: null, claimable_at: retry_at, failure: reason };
    }
    case 'ReportFailed':
      return { ...state, status: 'failed', finished_at: event.data.failed_at, failure: event.data.reason };
    case 'ReportRestated':
      return { ...state, told: takeRestated(state.told, event.data) };
  }
};

export const report: Decider<ReportState, ReportEvent> = { initial, evolve };

export const REPORT_ATTEMPTS_MAX = 3;
const RETRY_AFTER_SECONDS = 10;

const addSeconds = (at: string, seconds: number): string =>
  new Date(Date.parse(at) + seconds * 1_000).toISOString();

/** Both dates are inclusive. `today`: UTC date. */
export const windowFaults = (from: string, to: string, today: string): readonly ErrorDetail[] => {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  const faults: ErrorDetail[] = [];
  if (days < 1) faults.push({ path: 'to', message: '`to` is before `from`.', code: 'window_reversed' });
  if (days > REPORT_DAYS_MAX) {
    const message = `A report covers at most ${REPORT_DAYS_MAX} days; these are ${days}.`;
    faults.push({ path: 'to', message, code: 'window_too_long' });
  }
  if (to > today) {
    faults.push({ path: 'to', message: 'The window ends in the future.', code: 'window_in_future' });
  }
  return faults;
};

export type ReportCounts = {
  /** Queued or running, of those requested in the last 24 hours. */
  readonly queued: number;
  /** In the last 24 hours. */
  readonly requested: number;
  readonly kept: number;
};

/** Throws when one of the limits is reached. */
const requireFewReports = ({ queued, requested, kept }: ReportCounts): void => {
  if (queued >= REPORTS_QUEUED_MAX) {
    throw new Refusal(
      'limit_reached',
      `A workspace can have at most ${REPORTS_QUEUED_MAX} reports queued or running. Wait until some are ready.`,
    );
  }
  if (requested >= REPORTS_PER_DAY_MAX) {
    throw new Refusal(
      'limit_reached',
      `A workspace can request at most ${REPORTS_PER_DAY_MAX} reports in 24 hours. Try again later.`,
    );
  }
  if (kept >= REPORTS_KEPT_MAX) {
    throw new Refusal(
      'limit_reached',
      `A workspace can keep at most ${REPORTS_KEPT_MAX} reports. Request further ones in another workspace.`,
    );
  }
};

/** The idempotency key determines the id, so an existing stream is a repetition, even with other parameters. */
export const requestReport =
  (input: {
    readonly workspace_id: string;
    readonly report_id: string;
    /** `null` selects all tracked brands. */
    readonly brand_ids: readonly string[] | null;
    readonly tracked: ReadonlySet<string>;
    readonly types: readonly RadarItemType[];
    readonly from: string;
    readonly to: string;
    readonly at: string;
    readonly counts: ReportCounts;
  }) =>
  (state: ReportState): readonly ReportEvent[] => {
    if (state) return [];
    const { workspace_id, report_id, brand_ids, tracked, types, from, to, at, counts } = input;
    const faults = [
      ...windowFaults(from, to, utcDate(at)),
      ...(brand_ids ?? []).flatMap((brandId, index): ErrorDetail[] =>
        tracked.has(brandId)
          ? []
          : [{ path: `brand_ids.${index}`, message: 'This brand is not tracked.', code: 'not_tracked' }],
      ),
    ];
    if (faults.length > 0) {
      throw new Refusal('invalid_input', 'The report request is invalid; see `details`.', faults);
    }
    requireFewReports(counts);
    const data = {
      workspace_id,
      report_id,
      brand_ids: [...new Set(brand_ids ?? tracked)].toSorted(),
      all_tracked: brand_ids === null,
      types: [...new Set(types)].toSorted(),
      from,
      to,
      requested_at: at,
    };
    return [{ type: 'ReportRequested', data }];
  };

type Attempt = { readonly worker_id: string; readonly attempt: number };

const isLeaseHolder = (state: ReportState, { worker_id, attempt }: Attempt): state is RequestedReport =>
  state?.status === 'running' && state.worker_id === worker_id && state.attempt === attempt;

/** Records nothing while another worker holds the lease. After the last attempt's lease the report fails here. */
export const startReport =
  (input: { readonly worker_id: string; readonly at: string; readonly lease_seconds: number }) =>
  (state: ReportState): readonly ReportEvent[] => {
    const { worker_id, at, lease_seconds } = input;
    if (!state || state.status === 'ready' || state.status === 'failed' || state.claimable_at > at) return [];
    const { workspace_id, report_id } = state.request;
    const ids = { workspace_id, report_id, worker_id };
    if (state.attempt >= REPORT_ATTEMPTS_MAX) {
      const reason = `${REPORT_ATTEMPTS_MAX} workers stopped half-way; request the report again, or a shorter window.`;
      return [{ type: 'ReportFailed', data: { ...ids, attempt: state.attempt, reason, failed_at: at } }];
    }
    const lease_until = addSeconds(at, lease_seconds);
    const data = { ...ids, attempt: state.attempt + 1, started_at: at, lease_until };
    return [{ type: 'ReportStarted', data }];
  };

/** Records nothing when the lease lasts as long, or belongs to another worker. */
export const extendReportLease =
  (input: Attempt & { readonly at: string; readonly lease_seconds: number }) =>
  (state: ReportState): readonly ReportEvent[] => {
    const { worker_id, attempt, at, lease_seconds } = input;
    const lease_until = addSeconds(at, lease_seconds);
    if (!isLeaseHolder(state, input) || state.claimable_at >= lease_until) return [];
    const { workspace_id, report_id } = state.request;
    return [
      { type: 'ReportLeaseExtended', data: { workspace_id, report_id, worker_id, attempt, lease_until } },
    ];
  };

/** Records nothing after the lease is lost. */
export const finishReport =
  (input: Attempt & NonNullable<RequestedReport['file']> & { readonly at: string }) =>
  (state: ReportState): readonly ReportEvent[] => {
    if (!isLeaseHolder(state, input)) return [];
    const { at, ...finished } = input;
    const { workspace_id, report_id } = state.request;
    return [{ type: 'ReportFinished', data: { workspace_id, report_id, ...finished, finished_at: at } }];
  };

/** Queues the report again; the last attempt fails for good. */
export const failReport =
  (input: Attempt & { readonly reason: string; readonly at: string }) =>
  (state: ReportState): readonly ReportEvent[] => {
    if (!isLeaseHolder(state, input)) return [];
    const { worker_id, attempt, reason, at } = input;
    const { workspace_id, report_id } = state.request;
    const data = { workspace_id, report_id, worker_id, attempt, reason, failed_at: at };
    if (attempt >= REPORT_ATTEMPTS_MAX) return [{ type: 'ReportFailed', data }];
    const retry_at = addSeconds(at, RETRY_AFTER_SECONDS * attempt);
    return [{ type: 'ReportAttemptFailed', data: { ...data, retry_at } }];
  };

export const restateReport =
  (compared: Compared) =>
  (state: ReportState): readonly ReportEvent[] =>
    state?.status === 'ready'
      ? restate(state.told, compared).map((restated) => {
          const { workspace_id, report_id } = state.request;
          return { type: 'ReportRestated', data: { workspace_id, report_id, ...restated } };
        })
      : [];
