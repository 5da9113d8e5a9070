import { z } from 'zod';
import { Restatement } from '#contracts/resources/workspace/restatement.ts';
import type { Scope } from '#contracts/values/access.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { isRestated, listRestatements as readRestatements } from '#projections/restatements/read.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { AD_ID, BASE_URL, BRAND_ID, WORKSPACE_ID, radarItem, readyReport } from './endpoint/examples.ts';
import { pageQuery } from './endpoint/parameters.ts';
import { pageReply } from './endpoint/reply.ts';
import { workspaceRead } from './endpoint/kinds.ts';

const example: z.infer<typeof Restatement> = {
  id: '5c1e0a7b-3d92-5f46-8b1a-7e0c9d4f2a63',
  brief_id: null,
  report_id: readyReport.id,
  restated_at: '2026-11-23T04:30:02.000Z',
  rows_total: 1,
  rows: [
    {
      brand_id: BRAND_ID,
      item_id: radarItem.id,
      ad_id: AD_ID,
      change: 'changed',
      before: { correction: null },
      after: { correction: 'withdrawn' },
      events: [
        {
          stream: `adLibrary-${BRAND_ID}`,
          revision: 913,
          type: 'AdObservationCorrected',
          recorded_at: '2026-11-22T18:10:04.121Z',
          observed_at: '2026-10-29T06:00:00.000Z',
        },
      ],
    },
  ],
  url: `${BASE_URL}/v1/workspaces/${WORKSPACE_ID}/reports/${readyReport.id}`,
};

export const listRestatements = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/restatements',
  operationId: 'listRestatements',
  tag: 'Reports',
  scope: 'reports:read',
  orScope: 'briefs:read',
  summary: 'List what late scans changed in delivered briefs and reports',
  description:
    'The rows of delivered briefs and reports that differ from the radar, with the events that changed them, newest first. Each night the documents of the last 35 days are compared; a difference is listed once, because a restatement compares with the document and its earlier restatements. The documents themselves stay as they were. A key with `briefs:read` gets those of briefs, one with `reports:read` those of reports. A restated document names this address in the header `link`.',
  query: z
    .strictObject({
      ...pageQuery,
      brief_id: Uuid.optional().meta({ description: 'Only those of this brief.' }),
      report_id: Uuid.optional().meta({ description: 'Only those of this report.' }),
    })
    .refine(({ brief_id, report_id }) => brief_id === undefined || report_id === undefined, {
      path: ['report_id'],
      message: 'send either `brief_id` or `report_id`',
    }),
  reply: { status: 200, shape: 'paged', data: Restatement, example: [example] },
  reads: ['restatements'],
  beyondContract: true,
  handler: async ({ params, query: { brief_id, report_id }, page, caller }, { db }) => {
    const kinds = ['brief', 'report'].filter((kind) => caller.scopes.has(`${kind}s:read` as Scope));
    const filter = { workspaceId: params.ws, kinds, documentId: brief_id ?? report_id };
    return pageReply(await readRestatements(db, filter, page), null);
  },
});

/** Path of the restatements of a document, for the header `link`; nothing when there are none. */
export const restatedLink = async (
  db: ReadDatabase,
  workspaceId: string,
  field: 'brief_id' | 'report_id',
  id: string,
): Promise<{ readonly describedBy?: string }> =>
  (await isRestated(db, workspaceId, id))
    ? { describedBy: `/v1/workspaces/${workspaceId}/restatements?${field}=${id.toLowerCase()}` }
    : {};
