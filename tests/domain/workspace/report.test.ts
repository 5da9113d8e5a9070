import { describe, expect, test } from 'vitest';
import type { ReportEvent } from '#contracts/events/workspace/report.ts';
import {
  REPORTS_KEPT_MAX,
  REPORTS_PER_DAY_MAX,
  REPORTS_QUEUED_MAX,
} from '#contracts/resources/workspace/report.ts';
import {
  extendReportLease,
  failReport,
  finishReport,
  report,
  requestReport,
  startReport,
  windowFaults,
} from '#domain/workspace/report.ts';
import { given } from '#tests/dsl/deciders.ts';

const named = { workspace_id: 'ws_1', report_id: 'report' };
const AT = '2026-11-20T09:00:00.000Z';
const request = {
  ...named,
  brand_ids: ['b', 'a', 'b'],
  tracked: new Set(['a', 'b', 'c']),
  types: ['ad_started'],
  from: '2026-11-01',
  to: '2026-11-20',
  at: AT,
  counts: { queued: 0, requested: 0, kept: 0 },
} as const;
const requested: ReportEvent = {
  type: 'ReportRequested',
  data: {
    ...named,
    brand_ids: ['a', 'b'],
    all_tracked: false,
    types: ['ad_started'],
    from: '2026-11-01',
    to: '2026-11-20',
    requested_at: AT,
  },
};
const started = (
  worker_id: string,
  attempt: number,
  started_at: string,
  lease_until: string,
): ReportEvent => ({
  type: 'ReportStarted',
  data: { ...named, worker_id, attempt, started_at, lease_until },
});
const at = (seconds: number): string => new Date(Date.parse(AT) + seconds * 1_000).toISOString();
const first = started('one', 1, at(1), at(61));
const take = (worker_id: string, seconds: number) =>
  startReport({ worker_id, at: at(seconds), lease_seconds: 60 });
const file = { object_key: 'reports/ws_1/report/attempt-1.csv', bytes: 10, rows: 1, sha256: 'aa' };
const finish = finishReport({ worker_id: 'one', attempt: 1, ...file, at: at(5) });
const finished: ReportEvent = {
  type: 'ReportFinished',
  data: { ...named, worker_id: 'one', attempt: 1, ...file, finished_at: at(5) },
};
const fail = (attempt: number) =>
  failReport({ worker_id: 'one', attempt, reason: 'There is no room left for the file.', at: at(5) });

describe('requestReport', () => {
  test('queues a report with brands without duplicates', () =>
    given(report).when(requestReport(request)).records(requested));
  test('covers all tracked brands when it names none', () =>
    given(report)
      .when(requestReport({ ...request, brand_ids: null }))
      .records({
        type: 'ReportRequested',
        data: { ...requested.data, brand_ids: ['a', 'b', 'c'], all_tracked: true },
      }));
  test('records nothing for a repeated request, even with other parameters', () =>
    given(report, requested)
      .when(requestReport({ ...request, brand_ids: ['unknown'], to: '2027-01-01' }))
      .records());
  test('refuses a brand that is not tracked', () =>
    given(report)
      .when(requestReport({ ...request, brand_ids: ['a', 'd'] }))
      .refuses('invalid_input'));
  test.each([
    { queued: REPORTS_QUEUED_MAX, requested: REPORTS_QUEUED_MAX, kept: REPORTS_QUEUED_MAX },
    { queued: 0, requested: REPORTS_PER_DAY_MAX, kept: REPORTS_PER_DAY_MAX },
    { queued: 0, requested: 0, kept: REPORTS_KEPT_MAX },
  ])('refuses a report beyond the limit of the workspace: %j', (counts) => {
    given(report)
      .when(requestReport({ ...request, counts }))
      .refuses('limit_reached');
    given(report, requested)
      .when(requestReport({ ...request, counts }))
      .records();
  });
  test.each([
    ['2026-10-01', '2026-10-31', []],
    ['2026-10-01', '2026-11-01', ['window_too_long']],
    ['2026-11-20', '2026-11-20', []],
    ['2026-11-20', '2026-11-21', ['window_in_future']],
    ['2026-11-02', '2026-11-01', ['window_reversed']],
    ['2026-10-01', '2026-12-01', ['window_too_long', 'window_in_future']],
  ])('gives a window from %s to %s the errors %j', (from, to, faults) =>
    expect(windowFaults(from, to, '2026-11-20').map(({ code }) => code)).toEqual(faults),
  );
});

describe('startReport', () => {
  test('starts a queued report', () => given(report, requested).when(take('one', 1)).records(first));
  test('records nothing while another worker holds the lease', () =>
    given(report, requested, first).when(take('two', 60)).records());
  test('takes over a report whose lease has expired', () =>
    given(report, requested, first)
      .when(take('two', 61))
      .records(started('two', 2, at(61), at(121))));
  test('records nothing when the lease was extended', () =>
    given(report, requested, first, {
      type: 'ReportLeaseExtended',
      data: { ...named, worker_id: 'one', attempt: 1, lease_until: at(81) },
    })
      .when(take('two', 61))
      .records());
  test('records nothing for a finished or absent report', () => {
    given(report, requested, first, finished).when(take('two', 100)).records();
    given(report).when(take('two', 100)).records();
  });
  test('fails the report when three workers stopped half-way', () =>
    given(report, requested, first, started('two', 2, at(61), at(121)), started('three', 3, at(121), at(181)))
      .when(take('four', 181))
      .records({
        type: 'ReportFailed',
        data: {
          ...named,
          worker_id: 'four',
          attempt: 3,
          reason: '3 workers stopped half-way; request the report again, or a shorter window.',
          failed_at: at(181),
        },
      }));
});

describe('extendReportLease', () => {
  const extend = (worker_id: string) =>
    extendReportLease({ worker_id, attempt: 1, at: at(21), lease_seconds: 60 });
  test('extends the lease of the worker that holds it', () =>
    given(report, requested, first)
      .when(extend('one'))
      .records({
        type: 'ReportLeaseExtended',
        data: { ...named, worker_id: 'one', attempt: 1, lease_until: at(81) },
      }));
  test('records nothing for another worker', () =>
    given(report, requested, first).when(extend('two')).records());
});

describe('finishReport', () => {
  test('makes the report ready', () => given(report, requested, first).when(finish).records(finished));
  test('records nothing for a worker that lost the lease', () =>
    given(report, requested, first, started('two', 2, at(61), at(121)))
      .when(finish)
      .records());
});

describe('failReport', () => {
  const data = {
    ...named,
    worker_id: 'one',
    reason: 'There is no room left for the file.',
    failed_at: at(5),
  };
  test('queues the report again, with a longer delay after each attempt', () =>
    given(report, requested, started('one', 2, at(1), at(61)))
      .when(fail(2))
      .records({ type: 'ReportAttemptFailed', data: { ...data, attempt: 2, retry_at: at(25) } }));
  test('fails the report after the last attempt', () =>
    given(report, requested, started('one', 3, at(1), at(61)))
      .when(fail(3))
      .records({ type: 'ReportFailed', data: { ...data, attempt: 3 } }));
  test('records nothing for a worker that lost the lease', () =>
    given(report, requested, started('two', 2, at(61), at(121)))
      .when(fail(1))
      .records());
});
