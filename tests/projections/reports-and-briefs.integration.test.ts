import { describe, expect, it } from 'vitest';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { type BriefEvent, briefStream } from '#contracts/events/workspace/brief.ts';
import type { Restated } from '#contracts/events/workspace/restated.ts';
import { type ReportEvent, reportStream } from '#contracts/events/workspace/report.ts';
import { derivedId } from '#domain/ids.ts';
import { briefs } from '#projections/briefs/project.ts';
import { findBrief, listBriefs, listWorkspacesWithBrief } from '#projections/briefs/read.ts';
import { reports } from '#projections/reports/project.ts';
import { findReport, listClaimableReports, listReports } from '#projections/reports/read.ts';
import { restatements } from '#projections/restatements/project.ts';
import { isRestated, listRestatements } from '#projections/restatements/read.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';

const workspace_id = 'ws_1';
const firstPage = { limit: 10, after: null };
const id = (name: string): string => derivedId('test', name);

const onReport = (report_id: string, ...events: readonly ReportEvent[]): GivenEvent[] =>
  events.map((event) => ({ stream: reportStream(workspace_id, report_id), event }));
const requested = (report_id: string, requested_at: string, all_tracked = true): ReportEvent => ({
  type: 'ReportRequested',
  data: {
    workspace_id,
    report_id,
    brand_ids: ['b1', 'b2'],
    all_tracked,
    types: ['ad_started', 'ad_stopped'],
    from: '2026-05-01',
    to: '2026-05-31',
    requested_at,
  },
});
const attempted = (report_id: string, attempt: number) => ({
  workspace_id,
  report_id,
  worker_id: 'worker',
  attempt,
});
const started = (report_id: string, attempt: number): ReportEvent => ({
  type: 'ReportStarted',
  data: {
    ...attempted(report_id, attempt),
    started_at: '2026-06-01T09:00:00.000Z',
    lease_until: '2026-06-01T09:01:00.000Z',
  },
});

describe('reports', () => {
  const [queued, running, ready, failed] = ['queued', 'running', 'ready', 'failed'].map(id) as [
    string,
    string,
    string,
    string,
  ];
  const events = [
    ...onReport(queued, requested(queued, '2026-06-01T08:00:00.000Z', false), started(queued, 1), {
      type: 'ReportAttemptFailed',
      data: {
        ...attempted(queued, 1),
        reason: 'There is no room left for the file.',
        failed_at: '2026-06-01T09:00:01.000Z',
        retry_at: '2026-06-01T09:00:11.000Z',
      },
    }),
    ...onReport(running, requested(running, '2026-06-01T08:00:01.000Z'), started(running, 1), {
      type: 'ReportLeaseExtended',
      data: { ...attempted(running, 1), lease_until: '2026-06-01T09:01:20.000Z' },
    }),
    ...onReport(ready, requested(ready, '2026-06-01T08:00:02.000Z'), started(ready, 1), {
      type: 'ReportFinished',
      data: {
        ...attempted(ready, 1),
        object_key: 'reports/ws_1/ready/attempt-1.csv',
        bytes: 3_000_000_000,
        rows: 12,
        sha256: 'aa',
        finished_at: '2026-06-01T09:00:05.000Z',
      },
    }),
    ...onReport(failed, requested(failed, '2026-06-01T08:00:03.000Z'), started(failed, 3), {
      type: 'ReportFailed',
      data: {
        ...attempted(failed, 3),
        reason: 'The radar could not be read to its end.',
        failed_at: '2026-06-01T09:00:06.000Z',
      },
    }),
  ];

  it('pages through reports, newest first, with their status', async () => {
    await given(events)
      .into(reports)
      .shows(
        async (db) => {
          const seen: (string | null)[][] = [];
          let after: readonly string[] | null = null;
          do {
            const page = await listReports(db, workspace_id, { limit: 1, after });
            seen.push(...page.rows.map(({ report_id, status, failure }) => [report_id, status, failure]));
            after = page.next;
          } while (after);
          return seen;
        },
        [
          [failed, 'failed', 'The radar could not be read to its end.'],
          [ready, 'ready', null],
          [running, 'running', null],
          [queued, 'queued', 'There is no room left for the file.'],
        ],
      );
  });

  it('returns one report of the workspace, with its file', async () => {
    await given(events)
      .into(reports)
      .shows(
        async (db) => [
          await findReport(db, workspace_id, ready),
          (await findReport(db, workspace_id, queued))?.brand_ids ?? null,
          await findReport(db, 'ws_2', ready),
        ],
        [
          {
            report_id: ready,
            status: 'ready',
            brands: 2,
            brand_ids: null,
            types: ['ad_started', 'ad_stopped'],
            from: '2026-05-01',
            to: '2026-05-31',
            requested_at: '2026-06-01T08:00:02.000Z',
            started_at: '2026-06-01T09:00:00.000Z',
            finished_at: '2026-06-01T09:00:05.000Z',
            failure: null,
            object_key: 'reports/ws_1/ready/attempt-1.csv',
            bytes: 3_000_000_000,
            rows: 12,
            sha256: 'aa',
          },
          ['b1', 'b2'],
          null,
        ],
      );
  });

  it('lists reports for workers whose retry is due or whose lease has expired', async () => {
    const claimable = (at: string) => async (db: Parameters<typeof listClaimableReports>[0]) =>
      (await listClaimableReports(db, at, 10)).map(({ report_id }) => report_id);
    await given(events).into(reports).shows(claimable('2026-06-01T09:00:10.999Z'), []);
    await given(events).into(reports).shows(claimable('2026-06-01T09:01:00.000Z'), [queued]);
    await given(events).into(reports).shows(claimable('2026-06-01T09:01:20.000Z'), [queued, running]);
  });
});

describe('briefs', () => {
  const brand = registered('alpha.com', '2026-05-01T00:00:00.000Z');
  const brandId = brand.data.brand_id;
  const briefOf = (workspace: string, week: string, from: string, to: string): GivenEvent => {
    const brief_id = id(`${workspace} ${week}`);
    const event: BriefEvent = {
      type: 'BriefPrepared',
      data: {
        workspace_id: workspace,
        brief_id,
        week,
        from,
        to,
        brands: [{ brand_id: brandId, ads_started: 3, ads_stopped: 2, destinations_changed: 1 }],
        notable_items: [],
        prepared_at: '2026-05-11T06:00:00.000Z',
      },
    };
    return { stream: briefStream(workspace, brief_id), event };
  };
  const feedback = (value: 'useful' | null): GivenEvent => {
    const brief_id = id('ws_1 2026-W19');
    const data = { workspace_id, brief_id, feedback: value, given_at: '2026-05-11T08:00:00.000Z' };
    return { stream: briefStream(workspace_id, brief_id), event: { type: 'BriefFeedbackGiven', data } };
  };
  const events = [
    { stream: brandStream(brandId), event: brand },
    briefOf('ws_1', '2026-W19', '2026-05-04', '2026-05-10'),
    briefOf('ws_1', '2026-W18', '2026-04-27', '2026-05-03'),
    briefOf('ws_2', '2026-W19', '2026-05-04', '2026-05-10'),
    feedback(null),
    feedback('useful'),
  ];

  it('lists briefs, newest period first, with the last feedback', async () => {
    await given(events)
      .into(briefs)
      .shows(
        async (db) => (await listBriefs(db, workspace_id, firstPage)).items.map((item) => JSON.parse(item)),
        [
          {
            id: id('ws_1 2026-W19'),
            week: '2026-W19',
            from: '2026-05-04',
            to: '2026-05-10',
            brands: 1,
            changes: { ads_started: 3, ads_stopped: 2, destinations_changed: 1 },
            feedback: 'useful',
            created_at: '2026-05-11T06:00:00.000Z',
          },
          expect.objectContaining({ week: '2026-W18', feedback: null }),
        ],
      );
  });

  it('returns one brief with its brands named, and the workspaces that have a brief of a week', async () => {
    await given(events)
      .into(briefs)
      .shows(
        async (db) => {
          const found = await findBrief(db, workspace_id, id('ws_1 2026-W19'));
          return [
            JSON.parse(found?.replaceAll('\u0001', '') ?? 'null').changes_by_brand[0].brand.slug,
            await findBrief(db, 'ws_2', id('ws_1 2026-W19')),
            [...(await listWorkspacesWithBrief(db, '2026-W19'))].toSorted(),
          ];
        },
        ['alpha', null, ['ws_1', 'ws_2']],
      );
  });
});

describe('restatements', () => {
  const [brief_id, report_id] = [id('brief'), id('report')];
  const restated = (rows_total: number) => ({
    rows_total,
    rows: [
      {
        brand_id: id('brand'),
        item_id: null,
        ad_id: null,
        before: { title: 'A "quoted" title \u0001/' },
        after: null,
        causes: [],
      },
    ],
    restated_at: '2026-05-13T04:30:00.000Z',
  });
  const ofBrief = (rows_total: number, workspace = workspace_id): GivenEvent => ({
    stream: briefStream(workspace, brief_id),
    event: { type: 'BriefRestated', data: { workspace_id: workspace, brief_id, ...restated(rows_total) } },
  });
  const ofReport: GivenEvent = {
    stream: reportStream(workspace_id, report_id),
    event: { type: 'ReportRestated', data: { workspace_id, report_id, ...restated(3) } },
  };
  const kinds = ['brief', 'report'];

  it('are listed newest first, those of one document, of one kind, or by pages', async () => {
    await given([ofBrief(1), ofBrief(2), ofReport, ofBrief(4, 'ws_2')])
      .into(restatements)
      .shows(
        async (db) => {
          const list = async (filter: object, page = firstPage) => {
            const found = await listRestatements(
              db,
              { workspaceId: workspace_id, kinds, documentId: undefined, ...filter },
              page,
            );
            const items = found.items.map((item) => JSON.parse(item.replaceAll('\u0001', '')) as Restated);
            return { totals: items.map(({ rows_total }) => rows_total), next: found.next };
          };
          const first = await list({}, { limit: 2, after: null });
          const second = await listRestatements(
            db,
            { workspaceId: workspace_id, kinds, documentId: undefined },
            { limit: 2, after: first.next },
          );
          return [
            (await list({})).totals,
            (await list({ documentId: brief_id })).totals,
            (await list({ kinds: ['report'] })).totals,
            [...first.totals, second.items.length, second.next],
            (await list({ workspaceId: 'ws_2' })).totals,
            await isRestated(db, workspace_id, report_id),
            await isRestated(db, 'ws_2', report_id),
          ];
        },
        [[3, 2, 1], [2, 1], [3], [3, 2, 1, null], [4], true, false],
      );
  });

  it('name the document, and tell whether a row was added, removed or changed', async () => {
    await given([ofReport])
      .into(restatements)
      .shows(
        async (db) => {
          const filter = { workspaceId: workspace_id, kinds, documentId: report_id };
          const [item = ''] = (await listRestatements(db, filter, firstPage)).items;
          const { brief_id: none, report_id: of, rows, url } = JSON.parse(item.replaceAll('\u0001', ''));
          return [none, of, url, rows[0].change, rows[0].before, rows[0].events];
        },
        [
          null,
          report_id,
          `/v1/workspaces/${workspace_id}/reports/${report_id}`,
          'removed',
          { title: 'A "quoted" title \u0001/' },
          [],
        ],
      );
  });
});
