import { REPORT, type ReportEvent } from '#contracts/events/workspace/report.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

export const reports = projection<ReportEvent>({
  name: 'reports',
  version: 1,
  prefixes: [`${REPORT}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    const { workspace_id, report_id } = event.data;
    const set = (columns: Row): readonly Change[] => [
      { kind: 'upsert', table: 'report', key: { workspace_id, report_id }, set: columns },
    ];
    switch (event.type) {
      case 'ReportRequested': {
        const { brand_ids, all_tracked, types, from, to, requested_at } = event.data;
        return set({
          status: 'queued',
          all_tracked,
          brands: brand_ids.length,
          brand_ids: all_tracked ? null : brand_ids,
          types,
          from_date: from,
          to_date: to,
          requested_at,
          claimable_at: requested_at,
        });
      }
      case 'ReportStarted': {
        const { started_at, lease_until } = event.data;
        return set({ status: 'running', started_at, claimable_at: lease_until });
      }
      case 'ReportLeaseExtended':
        return set({ claimable_at: event.data.lease_until });
      case 'ReportFinished': {
        const { object_key, bytes, rows, sha256, finished_at } = event.data;
        return set({ status: 'ready', failure: null, object_key, bytes, rows, sha256, finished_at });
      }
      case 'ReportAttemptFailed': {
        const { reason, retry_at } = event.data;
        return set({ status: 'queued', failure: reason, claimable_at: retry_at });
      }
      case 'ReportRestated':
        return [];
      case 'ReportFailed':
        return set({ status: 'failed', failure: event.data.reason, finished_at: event.data.failed_at });
    }
  },
});
