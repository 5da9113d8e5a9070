import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { BRIEF, type BriefEvent } from '#contracts/events/workspace/brief.ts';
import { REPORT, type ReportEvent } from '#contracts/events/workspace/report.ts';
import type { Restated, RestatedRow } from '#contracts/events/workspace/restated.ts';
import { type Change, projection } from '../define-projection.ts';

const shownRow = ({ brand_id, item_id, ad_id, before, after, causes }: RestatedRow) => {
  const change = before === null ? 'added' : after === null ? 'removed' : 'changed';
  return { brand_id, item_id, ad_id, change, before, after, events: causes };
};

const insert = (
  { id, position }: RecordedEvent,
  { workspace_id, restated_at, rows_total, rows }: Restated & { readonly workspace_id: string },
  document: { readonly brief_id: string | null; readonly report_id: string | null },
): Change => {
  const { brief_id, report_id } = document;
  const path = brief_id === null ? `reports/${report_id}` : `briefs/${brief_id}`;
  // Escaped text never contains `BASE_URL_MARK`.
  const item = appendFields(
    JSON.stringify({ id, ...document, restated_at, rows_total, rows: rows.map(shownRow) }),
    { url: `"${BASE_URL_MARK}/v1/workspaces/${workspace_id}/${path}"` },
  );
  const kind = brief_id === null ? 'report' : 'brief';
  const row = {
    workspace_id,
    kind,
    restatement_id: id,
    document_id: brief_id ?? report_id,
    position,
    item,
  };
  return { kind: 'insert', table: 'restatement', row };
};

export const restatements = projection<BriefEvent | ReportEvent>({
  name: 'restatements',
  version: 1,
  prefixes: [`${BRIEF}-`, `${REPORT}-`],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    switch (event.type) {
      case 'BriefRestated':
        return [insert(event, event.data, { brief_id: event.data.brief_id, report_id: null })];
      case 'ReportRestated':
        return [insert(event, event.data, { brief_id: null, report_id: event.data.report_id })];
      case 'BriefPrepared':
      case 'BriefFeedbackGiven':
      case 'ReportRequested':
      case 'ReportStarted':
      case 'ReportLeaseExtended':
      case 'ReportFinished':
      case 'ReportAttemptFailed':
      case 'ReportFailed':
        return [];
    }
  },
});
