import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { isoTime } from '#platform/postgres/iso-time.ts';
import { ask, requireProjection, fromProjector } from './projector-tables.ts';

export const PARKED_PAGE_MAX = 500;
const PAGE_DEFAULT = 50;
export const PROJECTION_MAX_LENGTH = 100;
export const STREAM_MAX_LENGTH = 300;

export const ParkedPageLimit = z.coerce.number().int().min(1).max(PARKED_PAGE_MAX).default(PAGE_DEFAULT);
/** Where a page ended, as `PROJECTION/STREAM`. */
export const ParkedPlace = z
  .string()
  .max(PROJECTION_MAX_LENGTH + 1 + STREAM_MAX_LENGTH)
  .regex(/^[^/]+\/.+$/, 'PROJECTION/STREAM, as the page before says')
  .transform((text) => ({
    projection: text.slice(0, text.indexOf('/')),
    stream: text.slice(text.indexOf('/') + 1),
  }));
type ParkedPlace = z.infer<typeof ParkedPlace>;

/** An event that a projection could not apply, and how many later ones of its stream wait behind it. */
export type ParkedEvent = {
  readonly projection: string;
  readonly stream: string;
  readonly position: string;
  readonly revision: string | null;
  readonly type: string;
  readonly error: string;
  readonly waiting: number;
  readonly attempts: number;
  readonly parked_at: string;
  readonly tried_at: string | null;
  /** What an operator has asked for, until the owner has done it. */
  readonly asked: 'retry' | 'skip' | null;
};

export type ParkedQuery = {
  readonly projection: string | null;
  readonly stream: string | null;
  readonly limit: number;
  /** Where the page before ended. */
  readonly after: ParkedPlace | null;
};

/** The place after which the next page begins; `null` after the last. */
export const placeAfter = (page: readonly ParkedEvent[], limit: number): string | null => {
  const last = page.at(-1);
  return last && page.length === limit ? `${last.projection}/${last.stream}` : null;
};

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
         (select count(*)::int - 1 from projector.parked w where w.projection = k.projection and w.stream = k.stream) as waiting,
         k.attempts, ${isoTime('k.parked_at')} as parked_at, ${isoTime('k.tried_at')} as tried_at, k.asked
       from page k order by k.projection, k.stream`,
      [projection, stream, after?.projection ?? null, after?.stream ?? null, limit],
    ),
  );
  return rows;
};

/** One, with the event as the log has it; `event` is `null` when the log does not have it any more. */
export const showParked = async (
  database: Database,
  eventStore: EventStore,
  projection: string,
  stream: string,
): Promise<ParkedEvent & { readonly fact: RecordedEvent | null }> => {
  const [parked] = await listParked(database, { projection, stream, limit: 1, after: null });
  if (!parked) throw new Refusal('not_found', `${projection} has nothing parked of ${stream}.`);
  let found: RecordedEvent | null = null;
  if (parked.revision !== null) {
    for await (const event of eventStore.read(stream, BigInt(parked.revision) - 1n)) {
      if (String(event.revision) === parked.revision) found = event;
      break;
    }
  }
  return { ...parked, fact: found };
};

/** Has the owner apply what is parked, of some streams or of all; answers of how many streams. */
export const retryParked = async (
  database: Database,
  projection: string,
  streams: readonly string[] | null,
): Promise<number> => {
  const asked = await ask(
    database,
    projection,
    `update projector.parked k set asked = 'retry' from (
       select distinct on (stream) stream, position from projector.parked
       where projection = $1 and ($2::text[] is null or stream = any($2)) order by stream, position
     ) h where k.projection = $1 and k.stream = h.stream and k.position = h.position`,
    [streams],
  );
  if (asked === 0) throw new Refusal('not_found', `${projection} has nothing parked of that.`);
  return asked;
};

/** Has the owner leave out the event that a stream waits for, for good, and apply those behind it. */
export const skipParked = async (database: Database, projection: string, stream: string): Promise<void> => {
  const asked = await ask(
    database,
    projection,
    `update projector.parked k set asked = 'skip' from (
       select position from projector.parked where projection = $1 and stream = $2 order by position limit 1
     ) h where k.projection = $1 and k.stream = $2 and k.position = h.position`,
    [stream],
  );
  if (asked === 0) throw new Refusal('not_found', `${projection} has nothing parked of ${stream}.`);
};
