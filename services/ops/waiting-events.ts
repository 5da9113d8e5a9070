import { z } from 'zod';
import { isoTimeSql } from '#contracts/values/time.ts';
import { Refusal } from '#contracts/errors.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { fromProjector, requireProjection, sendRequest } from './projections.ts';

export const PARKED_PAGE_MAX = 500;
const PAGE_DEFAULT = 50;
export const PROJECTION_MAX_LENGTH = 100;
export const STREAM_MAX_LENGTH = 300;

export const ParkedPageLimit = z.coerce.number().int().min(1).max(PARKED_PAGE_MAX).default(PAGE_DEFAULT);
/** Keyset cursor `PROJECTION/STREAM`: the last row of the previous result page. */
export const ParkedCursor = z
  .string()
  .max(PROJECTION_MAX_LENGTH + 1 + STREAM_MAX_LENGTH)
  .regex(/^[^/]+\/.+$/, 'must be PROJECTION/STREAM, as the previous page returned it')
  .transform((text) => ({
    projection: text.slice(0, text.indexOf('/')),
    stream: text.slice(text.indexOf('/') + 1),
  }));
type ParkedCursor = z.infer<typeof ParkedCursor>;

/** An event that a projection could not apply. Later events of its stream wait for it (`waiting`). */
export type ParkedEvent = {
  readonly projection: string;
  readonly stream: string;
  readonly position: string;
  readonly revision: string | null;
  readonly type: string;
  readonly error: string;
  /** True when the stream waits for a release that can read the event. It is then retried without a request. */
  readonly waits_for_release: boolean;
  readonly waiting: number;
  readonly attempts: number;
  readonly parked_at: string;
  readonly tried_at: string | null;
  /** Pending request of an operator; `null` when there is none or the owner has carried it out. */
  readonly asked: 'retry' | 'skip' | null;
};

export type ParkedQuery = {
  readonly projection: string | null;
  readonly stream: string | null;
  readonly limit: number;
  readonly after: ParkedCursor | null;
};

export const nextParkedCursor = (page: readonly ParkedEvent[], limit: number): string | null => {
  const last = page.at(-1);
  return last && page.length === limit ? `${last.projection}/${last.stream}` : null;
};

const notParked = (projection: string, stream: string): Refusal =>
  new Refusal(
    'not_found',
    `No parked events of stream ${stream} in projection ${projection}. \`ops parked list\` shows them.`,
  );

export const listParked = async (database: Database, query: ParkedQuery): Promise<readonly ParkedEvent[]> => {
  const { projection, stream, limit, after } = query;
  if (projection !== null) await requireProjection(database, projection);
  const { rows } = await fromProjector(() =>
    database.query<ParkedEvent>(
      `with page as (
         select distinct on (projection, stream) * from projector.parked
         where ($1::text is null or projection = $1) and ($2::text is null or stream = $2)
           and ($3::text is null or (projection, stream) > ($3, $4))
         order by projection, stream, position limit $5
       )
       select k.projection, k.stream, k.position::text, k.revision::text, k.type, coalesce(k.error, '') as error,
         k.waits_for_version is not null as waits_for_release,
         (select count(*)::int - 1 from projector.parked w where w.projection = k.projection and w.stream = k.stream) as waiting,
         k.attempts, ${isoTimeSql('k.parked_at')} as parked_at, ${isoTimeSql('k.tried_at')} as tried_at, k.asked
       from page k order by k.projection, k.stream`,
      [projection, stream, after?.projection ?? null, after?.stream ?? null, limit],
    ),
  );
  return rows;
};

/** `fact` is `null` when the log no longer holds the event. Throws `not_found` when the stream is not parked. */
export const showParked = async (
  database: Database,
  eventStore: EventStore,
  projection: string,
  stream: string,
): Promise<ParkedEvent & { readonly fact: RecordedEvent | null }> => {
  const [parked] = await listParked(database, { projection, stream, limit: 1, after: null });
  if (!parked) throw notParked(projection, stream);
  let found: RecordedEvent | null = null;
  if (parked.revision !== null) {
    for await (const event of eventStore.read(stream, BigInt(parked.revision) - 1n)) {
      if (String(event.revision) === parked.revision) found = event;
      break;
    }
  }
  return { ...parked, fact: found };
};

/** Retries these streams, or all (`null`); returns how many. Throws `not_found` when none is parked. */
export const retryParked = async (
  database: Database,
  projection: string,
  streams: readonly string[] | null,
): Promise<number> => {
  const requested = await sendRequest(
    database,
    projection,
    `update projector.parked k set asked = 'retry' from (
       select distinct on (stream) stream, position from projector.parked
       where projection = $1 and ($2::text[] is null or stream = any($2)) order by stream, position
     ) h where k.projection = $1 and k.stream = h.stream and k.position = h.position`,
    [streams],
  );
  if (requested === 0)
    throw new Refusal('not_found', `No matching parked events in projection ${projection}.`);
  return requested;
};

/** Excludes the failed event for good. Throws `not_found` when the stream is not parked. */
export const skipParked = async (database: Database, projection: string, stream: string): Promise<void> => {
  const requested = await sendRequest(
    database,
    projection,
    `update projector.parked k set asked = 'skip' from (
       select position from projector.parked where projection = $1 and stream = $2 order by position limit 1
     ) h where k.projection = $1 and k.stream = $2 and k.position = h.position`,
    [stream],
  );
  if (requested === 0) throw notParked(projection, stream);
};

export const WAITING_PAGE_MAX = 500;

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
