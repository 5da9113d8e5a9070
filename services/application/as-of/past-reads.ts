import { Refusal } from '#contracts/errors.ts';
import { AD_LIBRARY } from '#contracts/events/corpus/ad-library.ts';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { TRACKING } from '#contracts/events/workspace/workspace.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { requireTime } from '#platform/concurrency/time-budget.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { projections } from '#projections/index.ts';
import { type EventMark, type KnownEvent, markOf, readStreams } from './event-streams.ts';
import { enterState, type KeptState, type Keeping, openKeptStates } from './kept-states.ts';
import { openScratchDatabase, RANGE, type ScratchTables, writeAll, writeRange } from './scratch-database.ts';

/**
 * Answers a read as the log would have at a past moment: the projections of its read models run over the events of the
 * streams that it is about, up to the moment, and the same statements read the rows.
 */

/** Events of all streams together, before and after the moment. */
export const PAST_EVENTS_MAX = 200_000;
/** Events between two moments, which are all in memory. */
export const BETWEEN_MAX = 20_000;

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
  (recordedUntil === undefined || event.recordedAt.getTime() <= recordedUntil.getTime()) &&
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

const trackedBy = async (event: KnownEvent, ofTracked: PastRead['ofTracked']): Promise<readonly string[]> =>
  event.type === 'BrandTracked' && ofTracked !== null ? await ofTracked(event.data.brand_id) : [];

/** Before the first revision. */
const NONE = -1n;
const revisionsOf =
  (state: KeptState | undefined) =>
  (stream: string): bigint =>
    state?.ends.get(stream)?.revision ?? NONE;

const earlier = (one: Date | null, otherMs: number): Date =>
  one !== null && one.getTime() <= otherMs ? one : new Date(otherMs);

const isDecision = ({ stream }: EventMark): boolean => stream.startsWith(`${TRACKING}-`);

/** Decisions of members are no observations: only their recording counts. */
const isObserved = ({ observedUntil }: Cut, event: EventMark): boolean =>
  observedUntil === undefined || isDecision(event) || event.observedAt <= observedUntil.getTime();

/**
 * Counts what was observed by a moment and recorded too late for it: in a read by recording what is left out, in one by
 * observation what counts.
 */
const isLateFor = ({ recordedUntil, observedUntil }: Cut, event: EventMark, isIn: boolean): boolean => {
  if (observedUntil !== undefined) return isIn && event.recordedAt > observedUntil;
  return !isIn && recordedUntil !== undefined && event.observedAt <= recordedUntil.getTime();
};

/** Observation from which and until which a moment has no answer, and the recording of the first late event. */
type Gap = {
  readonly brandId: string;
  readonly from: number;
  readonly until: number;
  readonly recordedAt: Date;
};

/**
 * An observation that was recorded after a newer one corrects what both of them tell (rule 11), so its events hold more than
 * was observed by a moment between the two. So does the registration of a brand by the newer one. `end` throws `Refusal` for such a
 * moment.
 */
const createOrderCheck = ({ observedUntil }: Cut) => {
  /** By brand: the newest observation of its library that does not count, and a registration that does not. */
  const newest = new Map<string, number>();
  const registered = new Map<string, number>();
  /** By brand: the first event that counts, in the order of the log. */
  const first = new Map<string, Pick<EventMark, 'position' | 'observedAt' | 'recordedAt'>>();
  const gaps = new Map<string, Gap>();
  return {
    add: (event: EventMark, isIn: boolean): void => {
      if (observedUntil === undefined || isDecision(event)) return;
      const { stream, type, position, recordedAt, observedAt: time } = event;
      const brandId = stream.slice(stream.indexOf('-') + 1);
      if (isIn && position < (first.get(brandId)?.position ?? Infinity)) first.set(brandId, event);
      if (!isIn && type === 'BrandRegistered') registered.set(brandId, time);
      if (!stream.startsWith(`${AD_LIBRARY}-`)) return;
      const until = newest.get(brandId);
      if (!isIn) newest.set(brandId, Math.max(time, until ?? time));
      else if (until !== undefined) {
        const gap = gaps.get(brandId);
        gaps.set(brandId, {
          brandId,
          from: Math.min(time, gap?.from ?? time),
          until,
          recordedAt: gap?.recordedAt ?? recordedAt,
        });
      }
    },
    end: (): void => {
      for (const [brandId, until] of registered) {
        const known = first.get(brandId);
        if (known)
          gaps.set(brandId, { brandId, from: known.observedAt, until, recordedAt: known.recordedAt });
      }
      for (const gap of gaps.values()) throw betweenLate(gap);
    },
  };
};

const betweenLate = ({ brandId, from, until, recordedAt }: Gap): Refusal => {
  const [start, end] = [new Date(from).toISOString(), new Date(until).toISOString()];
  const message = `an observation of brand ${brandId} of ${start} was recorded, at ${recordedAt.toISOString()}, after one of ${end}, and no event tells of the first without the second; send a moment before ${start}, or ${end} or later, or add an \`as_of\` before that recording`;
  return new Refusal('invalid_input', `No answer for \`observed_as_of\`: ${message}.`, [
    { path: 'observed_as_of', message, code: 'late_observation' },
  ]);
};

const SHORTER = 'send `since` and an earlier `until`, and go on from there';
const tooMany = (max: number, path: 'as_of' | 'since', remedy: string): Refusal => {
  const message = `more than ${max.toLocaleString('en')} events; ${remedy}`;
  return new Refusal('invalid_input', `The read is about ${message}.`, [{ path, message, code: 'too_big' }]);
};

export const openPastReads = (
  databaseUrl: string,
  database: Database,
  eventStore: Pick<EventStore, 'read'>,
  keeping?: Keeping,
): PastReads => {
  const scratch = openScratchDatabase(databaseUrl, database);
  const states = keeping && openKeptStates(databaseUrl, eventStore, keeping);

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
      streams: new Map<string, { -readonly [Name in keyof StreamBasis]: StreamBasis[Name] }>(),
    };
    const order = createOrderCheck(until);
    let counted = 0;
    const between: RecordedEvent[] = [];
    let range: RecordedEvent[] = [];
    let written: Promise<void> = Promise.resolve();
    const write = (): Promise<void> => {
      const events = range;
      range = [];
      written = written.then(() => writeRange(tables, models, events));
      return written;
    };
    const isInCut = (event: EventMark): boolean => isWithin(until, event) && isObserved(until, event);
    const count = (event: EventMark): boolean => {
      const isIn = isInCut(event);
      const isLate = isLateFor(until, event, isIn);
      order.add(event, isIn);
      counted += Number(isIn || isLate);
      if (counted > PAST_EVENTS_MAX) throw tooMany(PAST_EVENTS_MAX, 'as_of', 'name one brand');
      if (!isDecision(event)) {
        basis.earliest.recorded = earlier(basis.earliest.recorded, event.recordedAt.getTime());
        basis.earliest.observed = earlier(basis.earliest.observed, event.observedAt);
      }
      const own = basis.streams.get(event.stream) ?? { events: 0, late: 0, revision: event.revision };
      own.events += Number(isIn);
      own.late += Number(isLate);
      own.revision = event.revision;
      basis.streams.set(event.stream, own);
      basis.events += Number(isIn);
      basis.late += Number(isLate);
      if (isIn && event.position > basis.position) basis.position = event.position;
      return isIn;
    };
    // An ad that has moved since then was at the brand that the move names.
    const namedBy = ({ type, names }: EventMark, isIn: boolean): readonly string[] =>
      isIn || type === 'AdAttributed' ? names : [];

    const kept = (await states?.find(tables.client, models, streams)) ?? [];
    const named: string[] = [];
    /** By stream: revision of the last kept event that counts. */
    const lastIn = new Map<string, bigint>();
    let state: KeptState | undefined;
    let isBefore = true;
    for (const one of kept) {
      requireTime();
      for (const mark of one.marks) {
        const isIn = count(mark);
        named.push(...namedBy(mark, isIn));
        if (isIn) lastIn.set(mark.stream, mark.revision);
        isBefore &&= isIn && isWithin(since, mark);
      }
      if (isBefore) state = one;
    }
    if (state) await enterState(tables.client, models, state);
    const keptUntil = revisionsOf(kept.at(-1));
    const writtenUntil = revisionsOf(state);
    /** Kept events that count and are not in the state, and events that are not kept. */
    const read = async function* (stream: string): AsyncGenerator<RecordedEvent<Event>> {
      const [after, last] = [writtenUntil(stream), lastIn.get(stream) ?? NONE];
      if (after < last) yield* eventStore.read<Event>(stream, after, Number(last - after));
      yield* eventStore.read<Event>(stream, keptUntil(stream));
    };
    const unkept = new Map<string, number>();
    try {
      await readStreams({ read }, [...streams, ...named], async (event) => {
        requireTime();
        const mark = markOf(event);
        const isKept = event.revision <= keptUntil(event.stream);
        const isIn = isKept ? isInCut(mark) : count(mark);
        if (!isKept) unkept.set(event.stream, (unkept.get(event.stream) ?? 0) + 1);
        if (!isIn) return namedBy(mark, isIn);
        if (isWithin(since, event)) range.push(event);
        else if (between.push(event) > BETWEEN_MAX) throw tooMany(BETWEEN_MAX, 'since', SHORTER);
        if (range.length >= RANGE) await write();
        return [...namedBy(mark, isIn), ...(await trackedBy(event as KnownEvent, ofTracked))];
      });
    } finally {
      states?.keep(streams, unkept);
    }
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
    [Symbol.asyncDispose]: async () => {
      await states?.[Symbol.asyncDispose]();
      await scratch[Symbol.asyncDispose]();
    },
  };
};
