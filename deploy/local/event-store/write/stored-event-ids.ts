import type pg from 'pg';
import type { WrittenId, WrittenIds } from './commit-group.ts';
import { parseUuid } from '../wire/uuid.ts';

interface Row {
  readonly stream: string;
  readonly revision: string;
  readonly position: string;
  readonly id: string;
}

/** `position` is qualified in every ORDER BY: a bare one would mean the selected text column. */
const COLUMNS = 'select stream, revision::text, position::text, id::text from event_store.event';

/** Uses the writer's own connection. */
export function writtenIdsOver(client: pg.Client): WrittenIds {
  return {
    inStream: async (stream, first, last) => {
      const answer = await client.query<Row>({
        name: 'ids-in-stream',
        text: `${COLUMNS} where stream = $1 and revision between $2 and $3 order by event.revision`,
        values: [stream, first, last],
      });
      return answer.rows.map(parseRow);
    },
    at: async (position) => {
      const answer = await client.query<Row>({
        name: 'id-at',
        text: `${COLUMNS} where position = $1`,
        values: [position],
      });
      const row = answer.rows[0];
      return row === undefined ? null : parseRow(row);
    },
  };
}

export async function newestIds(
  client: pg.Client,
  limit: number,
): Promise<{ position: number; id: Buffer }[]> {
  const answer = await client.query<Row>(`${COLUMNS} order by event.position desc limit ${limit}`);
  return answer.rows.toReversed().map(parseRow);
}

function parseRow(row: Row): WrittenId {
  return {
    stream: row.stream,
    revision: Number(row.revision),
    position: Number(row.position),
    id: parseUuid(Buffer.from(row.id, 'latin1')) as Buffer,
  };
}
