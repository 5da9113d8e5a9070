import { z } from 'zod';
import { RESTATED_CAUSES_MAX, RESTATED_ROWS_MAX } from '#contracts/events/workspace/restated.ts';
import { Count, LibraryId, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { ChangeKind, RecordedEvent } from '../corpus/change.ts';

const RestatedCells = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

const RestatedRow = z
  .strictObject({
    brand_id: Uuid.meta({ description: 'Brand of the row.' }),
    item_id: Uuid.nullable().meta({
      description: 'Radar item of the row, `item_id` in the file; null for a brief.',
    }),
    ad_id: LibraryId.nullable().meta({ description: 'Ad of the item; null for a brief.' }),
    change: ChangeKind.meta({
      description:
        '`added` and `removed`: the whole row; `changed`: some columns of it. An item that moved between two brands is removed at one and added at the other.',
    }),
    before: RestatedCells.nullable().meta({
      description:
        'Columns of the document with its earlier restatements; of a changed row only those that differ. A column is null when it is empty. Null for an added row.',
    }),
    after: RestatedCells.nullable().meta({ description: 'The columns now; null for a removed row.' }),
    events: z
      .array(RecordedEvent)
      .max(RESTATED_CAUSES_MAX)
      .meta({
        description: `Events about the row recorded since the last restatement, or since the document was made, newest first, at most ${RESTATED_CAUSES_MAX}; empty when they are not known.`,
      }),
  })
  .meta({ id: 'RestatedRow', description: 'A row of a document that differs from what was delivered.' });

export const Restatement = z
  .strictObject({
    id: Uuid.meta({ description: 'Stable id of the restatement.' }),
    brief_id: Uuid.nullable().meta({ description: 'The brief that it restates; null for a report.' }),
    report_id: Uuid.nullable().meta({ description: 'The report that it restates; null for a brief.' }),
    restated_at: Timestamp.meta({ description: 'When the document was compared.' }),
    rows_total: Count.meta({ description: 'Rows that differ, also those beyond `rows`.' }),
    rows: z
      .array(RestatedRow)
      .max(RESTATED_ROWS_MAX)
      .meta({
        description: `The first rows that differ, at most ${RESTATED_ROWS_MAX}. The others are in the next restatements of the document.`,
      }),
    url: z.url().meta({ description: 'Address of the brief or report.' }),
  })
  .meta({
    id: 'Restatement',
    description:
      'Rows of a delivered brief or report that differ from the document with its earlier restatements.',
  });
export type Restatement = z.infer<typeof Restatement>;
