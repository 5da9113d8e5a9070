import { chunk } from 'es-toolkit/array/chunk';
import { Refusal } from '#contracts/errors.ts';
import { AD_LIBRARY, adLibraryStream, type AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { AdAttributed } from '#contracts/events/corpus/ad-library-corrections.ts';
import { brandStream, type BrandEvent } from '#contracts/events/corpus/brand.ts';
import { categoryStream } from '#contracts/events/corpus/category.ts';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { TRACKING, type TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { requireTime } from '#platform/concurrency/time-budget.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { projections } from '#projections/index.ts';
import { projectEvents } from '../read-models/project-events.ts';
import { enterSchema, schemaOf } from '../read-models/schema.ts';
import { writeGroup } from '../read-models/write-changes.ts';
import { openScratchDatabase, type ScratchTables } from './scratch-database.ts';

/**
 * Answers a read as the log would have at a past moment: the projections of its read models run over the events of the
 * streams that it is about, up to the moment, and the same statements read the rows.
 */

/** Events of all streams together, before and after the moment. */
export const PAST_EVENTS_MAX = 200_000;
/** Streams that are read at once. */
const STREAMS_AT_ONCE = 8;
/** Events between two moments, which are all in memory. */
export const BETWEEN_MAX = 20_000;
/** Events in memory. Rows are written for all of them together. */
const RANGE = 2_000;

/**
 * The events up to a moment: by their recording, by their place in the log, or by the observation that they tell of. All
 * conditions hold. Only places leave none out for good.
 */
export type Cut = {
  readonly recordedUntil?: Date | undefined;
  readonly position?: bigint | undefined;
  readonly observedUntil?: Date | undefined;
};

/** By recording and place. */
export const isWithin = (
  { recordedUntil, position }: Cut,
  event: Pick<RecordedEvent, 'recordedAt' | 'position'>,
): boolean =>
  (recordedUntil === undefined || event.recordedAt <= recordedUntil) &&
  (position === undefined || event.position <= position);

export type PastRead = {
  /** The read models of the read; each finds its events in the streams. */
  readonly readModels: readonly string[];
  /** Streams to begin with. Categories of their brands, and brands that had one of their ads, are read too. */
  readonly streams: readonly string[];
  /** Streams about a brand that the others say was tracked; `null` leaves these brands out. */
  readonly ofTracked: ((brandId: string) => Promise<readonly string[]>) | null;
  readonly until: Cut;
};

/** The events that give the answer, by their recording. */
export type PastBasis = {
  /** Events that count: recorded or observed by the moment. */
  readonly events: number;
  /** Events about what was observed by the moment, recorded only afterwards. They count in a read by observation. */
  readonly late: number;
  /** When the first events of the corpus were recorded, and observed; `null` without any. */
  readonly earliest: { readonly recorded: Date | null; readonly observed: Date | null };
  /** Log position of the last event; 0n without one. */
  readonly position: bigint;
  readonly streams: ReadonlyMap<string, StreamBasis>;
};

/** `events` and `late` as in `PastBasis`; `revision` of the last event that was read, by the moment or later. */
export type StreamBasis = { readonly events: number; readonly late: number; readonly revision: bigint };

export type PastReads = AsyncDisposable & {
  /** Throws `Refusal` for more than `PAST_EVENTS_MAX` events, or for a moment by observation that no state of the log tells. */
  read<T>(
    past: PastRead,
    work: (db: ReadDatabase, basis: PastBasis) => Promise<T>,
  ): Promise<{ readonly result: T; readonly basis: PastBasis }>;
  /** Reads twice: as of `since`, and after the events from then on. Throws also for more than `BETWEEN_MAX` of these. */
  compare<T>(
    past: PastRead & { readonly since: Cut },
    work: (db: ReadDatabase) => Promise<T>,
  ): Promise<{
    readonly before: T;
    readonly after: T;
    readonly between: readonly RecordedEvent[];
    readonly basis: PastBasis;
  }>;
  /** Calls `work` with empty read models, and a function that writes the rows of further events. */
  follow<T>(
    readModels: readonly string[],
    work: (db: ReadDatabase, write: (events: readonly RecordedEvent[]) => Promise<void>) => Promise<T>,
  ): Promise<T>;
};

type Known = RecordedEvent<AdLibraryEvent | BrandEvent | TrackingEvent>;

export const streamsOfBrand = (brandId: string): readonly string[] => [
  brandStream(brandId),
  adLibraryStream(brandId),
];

/** Later events about the ad are in the streams of its other brands. */
export const streamsOfMove = ({ from_brand_id, to_brand_id, ad }: AdAttributed['data']): readonly string[] =>
  [from_brand_id, to_brand_id, ...(ad.brands ?? [])].flatMap(streamsOfBrand);

/** Further streams without which the rows of the event would be others than in the whole log. */
const streamsNamedBy = async (event: Known, ofTracked: PastRead['ofTracked']): Promise<readonly string[]> => {
  switch (event.type) {
    case 'BrandTracked':
      return ofTracked === null ? [] : await ofTracked(event.data.brand_id);
    case 'BrandRegistered':
      return event.data.category_path.map(({ id }) => categoryStream(id));
    case 'BrandProfileChanged':
      return (event.data.changes.category_path ?? []).map(({ id }) => categoryStream(id));
    case 'AdAttributed':
      return streamsOfMove(event.data);
    default:
      return [];
  }
};

/** In milliseconds; the time of recording for an event that tells of no observation. */
export const observedAt = ({ data, recordedAt }: RecordedEvent): number => {
  const { observed_at } = data as { readonly observed_at?: unknown };
  return typeof observed_at === 'string' ? Date.parse(observed_at) : recordedAt.getTime();
};

const earlier = (one: Date | null, other: Date): Date => (one !== null && one < other ? one : other);

const isDecision = ({ stream }: RecordedEvent): boolean => stream.startsWith(`${TRACKING}-`);

/** Decisions of members are no observations: only their recording counts. */
const isObserved = ({ observedUntil }: Cut, event: RecordedEvent): boolean =>
  observedUntil === undefined || isDecision(event) || observedAt(event) <= observedUntil.getTime();

/**
 * Counts what was observed by a moment and recorded too late for it: in a read by recording what is left out, in one by
 * observation what counts.
 */
const isLateFor = ({ recordedUntil, observedUntil }: Cut, event: RecordedEvent, isIn: boolean): boolean => {
  if (observedUntil !== undefined) return isIn && event.recordedAt > observedUntil;
  return !isIn && recordedUntil !== undefined && observedAt(event) <= recordedUntil.getTime();
};

/** Observation from which and until which a moment has no answer, and the recording of the first late event. */
type Gap = { readonly from: number; readonly until: number; readonly recordedAt: Date };

/**
 * An observation that was recorded after a newer one corrects what both of them tell (rule 11), so its events hold more than
 * was observed by a moment between the two. So does the registration of a brand by the newer one. `end` throws `Refusal` for such a
 * moment.
 */
const createOrderCheck = ({ observedUntil }: Cut) => {
  /** By brand: the newest observation of its library that does not count, and a registration that does not. */
  const newest = new Map<string, number>();
  const registered = new Map<string, number>();
  /** By brand: the first event that counts. */
  const first = new Map<string, { readonly time: number; readonly recordedAt: Date }>();
  const gaps = new Map<string, Gap>();
  return {
    add: (event: RecordedEvent, isIn: boolean): void => {
      if (observedUntil === undefined || isDecision(event)) return;
      const { stream, type, recordedAt } = event;
      const brandId = stream.slice(stream.indexOf('-') + 1);
      const time = observedAt(event);
      if (isIn && !first.has(brandId)) first.set(brandId, { time, recordedAt });
      if (!isIn && type === 'BrandRegistered') registered.set(brandId, time);
      if (!stream.startsWith(`${AD_LIBRARY}-`)) return;
      const until = newest.get(brandId);
      if (!isIn) newest.set(brandId, Math.max(time, until ?? time));
      else if (until !== undefined) {
        const gap = gaps.get(brandId);
        gaps.set(brandId, {
          from: Math.min(time, gap?.from ?? time),
          until,
          recordedAt: gap?.recordedAt ?? recordedAt,
        });
      }
    },
    end: (): void => {
      for (const [brandId, until] of registered) {
        const known = first.get(brandId);
        if (known) gaps.set(brandId, { from: known.time, until, recordedAt: known.recordedAt });
      }
      for (const gap of gaps.values()) throw betweenLate(gap);
    },
  };
};

const betweenLate = ({ from, until, recordedAt }: Gap): Refusal => {
  const [start, end] = [new Date(from).toISOString(), new Date(until).toISOString()];
  const message = `an observation of ${start} was recorded, at ${recordedAt.toISOString()}, after one of ${end}, and no event tells of the first without the second; send a moment before ${start}, or ${end} or later, or add an \`as_of\` before that recording`;
  return new Refusal('invalid_input', `No answer for \`observed_as_of\`: ${message}.`, [
    { path: 'observed_as_of', message, code: 'late_observation' },
  ]);
};

const SHORTER = 'send `since` and an earlier `until`, and go on from there';
const tooMany = (max: number, path: 'as_of' | 'since', remedy: string): Refusal => {
  const message = `more than ${max.toLocaleString('en')} events; ${remedy}`;
  return new Refusal('invalid_input', `The read is about ${message}.`, [{ path, message, code: 'too_big' }]);
};

/** Reads streams, and then those that their events name. Events of one stream keep their order. */
export const readStreams = async (
  eventStore: Pick<EventStore, 'read'>,
  first: readonly string[],
  take: (event: RecordedEvent) => Promise<readonly string[]>,
): Promise<void> => {
  const named = new Set(first);
  const waiting = [...named];
  const readOne = async (stream: string): Promise<void> => {
    for await (const event of eventStore.read<Event>(stream)) {
      for (const one of await take(event)) {
        if (named.has(one)) continue;
        named.add(one);
        waiting.push(one);
      }
    }
  };
  while (waiting.length > 0) {
    // Awaits all of them also after a failure, because they write to the same tables.
    const read = await Promise.allSettled(waiting.splice(0, STREAMS_AT_ONCE).map(readOne));
    const failed = read.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }
};

const writeRange = async (
  { client, catalogOf }: ScratchTables,
  models: readonly Projection[],
  events: readonly RecordedEvent[],
): Promise<void> => {
  for (const projection of models) {
    const own = events.filter(({ stream }) =>
      projection.prefixes.some((prefix) => stream.startsWith(prefix)),
    );
    if (own.length === 0) continue;
    requireTime();
    await enterSchema(client, schemaOf(projection.name));
    for (const group of projectEvents(projection, own))
      await writeGroup(client, projection, catalogOf(projection), group);
  }
};

const writeAll = async (
  tables: ScratchTables,
  models: readonly Projection[],
  events: readonly RecordedEvent[],
): Promise<void> => {
  for (const some of chunk(events, RANGE)) await writeRange(tables, models, some);
};

export const openPastReads = (
  databaseUrl: string,
  database: Database,
  eventStore: Pick<EventStore, 'read'>,
): PastReads => {
  const scratch = openScratchDatabase(databaseUrl, database);

  /** Writes the rows of the events up to `since`, and returns the later events up to the moment of the read. */
  const fill = async (
    tables: ScratchTables,
    models: readonly Projection[],
    { streams, ofTracked, until }: PastRead,
    since = until,
  ): Promise<{ readonly basis: PastBasis; readonly between: readonly RecordedEvent[] }> => {
    const basis = {
      events: 0,
      late: 0,
      position: 0n,
      earliest: { recorded: null as Date | null, observed: null as Date | null },
      streams: new Map<string, StreamBasis>(),
    };
    const order = createOrderCheck(until);
    let read = 0;
    const between: RecordedEvent[] = [];
    let range: RecordedEvent[] = [];
    let written: Promise<void> = Promise.resolve();
    const write = (): Promise<void> => {
      const events = range;
      range = [];
      written = written.then(() => writeRange(tables, models, events));
      return written;
    };
    await readStreams(eventStore, streams, async (event) => {
      requireTime();
      const isIn = isWithin(until, event) && isObserved(until, event);
      const isLate = isLateFor(until, event, isIn);
      order.add(event, isIn);
      read += Number(isIn || isLate);
      if (read > PAST_EVENTS_MAX) throw tooMany(PAST_EVENTS_MAX, 'as_of', 'name one brand');
      if (!isDecision(event)) {
        basis.earliest.recorded = earlier(basis.earliest.recorded, event.recordedAt);
        basis.earliest.observed = earlier(basis.earliest.observed, new Date(observedAt(event)));
      }
      const own = basis.streams.get(event.stream);
      basis.streams.set(event.stream, {
        events: (own?.events ?? 0) + Number(isIn),
        late: (own?.late ?? 0) + Number(isLate),
        revision: event.revision,
      });
      basis.events += Number(isIn);
      basis.late += Number(isLate);
      // An ad that has moved since then was at the brand that the move names.
      if (!isIn) return event.type === 'AdAttributed' ? streamsNamedBy(event as Known, ofTracked) : [];
      if (event.position > basis.position) basis.position = event.position;
      if (!isWithin(since, event)) {
        if (between.length >= BETWEEN_MAX) throw tooMany(BETWEEN_MAX, 'since', SHORTER);
        between.push(event);
      } else range.push(event);
      if (range.length >= RANGE) await write();
      return streamsNamedBy(event as Known, ofTracked);
    });
    order.end();
    await write();
    return { basis, between };
  };

  const modelsOf = ({ readModels }: Pick<PastRead, 'readModels'>): readonly Projection[] =>
    projections.filter(({ name }) => readModels.includes(name));

  return {
    read: (past, work) => {
      const models = modelsOf(past);
      return scratch.withTables(models, async (tables) => {
        const { basis } = await fill(tables, models, past);
        return { result: await work(tables.db, basis), basis };
      });
    },
    compare: (past, work) => {
      const models = modelsOf(past);
      return scratch.withTables(models, async (tables) => {
        const { basis, between } = await fill(tables, models, past, past.since);
        const before = await work(tables.db);
        await writeAll(tables, models, between);
        return { before, after: await work(tables.db), between, basis };
      });
    },
    follow: (readModels, work) => {
      const models = modelsOf({ readModels });
      return scratch.withTables(models, (tables) =>
        work(tables.db, (events) => writeAll(tables, models, events)),
      );
    },
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  };
};
