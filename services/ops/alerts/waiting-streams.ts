import { z } from 'zod';
import { isoTimeSql } from '#contracts/values/time.ts';
import type { Database } from '#platform/postgres/pool.ts';

export const WAITING_PAGE_MAX = 500;
const PAGE_DEFAULT = 50;
const STREAM_MAX_LENGTH = 300;

export const WaitingQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(WAITING_PAGE_MAX).default(PAGE_DEFAULT),
  /** Keyset cursor: the last stream of the previous result page. */
  after: z.string().max(STREAM_MAX_LENGTH).optional(),
});
export type WaitingQuery = z.infer<typeof WaitingQuery>;

export type WaitingStream = {
  readonly stream: string;
  readonly type: string;
  readonly version: string;
  readonly revision: string;
  readonly position: string;
  /** Events of the stream that wait behind the first one. */
  readonly waiting: number;
  readonly since: string;
};

export const nextWaitingCursor = (page: readonly WaitingStream[], limit: number): string | null =>
  page.length === limit ? (page.at(-1)?.stream ?? null) : null;

/** SQL states: undefined table, schema. Alerts creates its tables when it starts for the first time. */
const NOT_MADE = ['42P01', '3F000'];

/** Lists waiting streams by name; none before the first start of alerts. */
export const listWaitingStreams = async (
  database: Database,
  { limit, after }: WaitingQuery,
): Promise<readonly WaitingStream[]> => {
  try {
    const { rows } = await database.query<WaitingStream>(
      `with page as (
         select distinct on (stream) * from alerting.waiting_event
         where $1::text is null or stream > $1 order by stream, revision limit $2
       )
       select p.stream, p.type, p.version, p.revision::text, p.position::text,
         (select count(*)::int - 1 from alerting.waiting_event w where w.stream = p.stream) as waiting,
         ${isoTimeSql('p.since')} as since
       from page p order by p.stream`,
      [after ?? null, limit],
    );
    return rows;
  } catch (error) {
    if (!NOT_MADE.includes((error as { code?: string }).code ?? '')) throw error;
    return [];
  }
};

/** Throws when alerts has not created its tables yet. */
export const countWaitingStreams = async (database: Database): Promise<number> => {
  const { rows } = await database.query<{ streams: number }>(
    'select count(distinct stream)::int as streams from alerting.waiting_event',
  );
  return rows[0]?.streams ?? 0;
};
