import type { EventMetadata, RecordedEvent } from '#contracts/events/event.ts';
import { pause } from '#platform/clock.ts';
import type { Followed, Follower } from '#platform/event-store/catch-up-subscription.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type Followers, createBatchDispatcher } from './apply/batch-dispatcher.ts';
import { recordState } from './apply/checkpoints.ts';
import type { Failed } from './apply/move-positions.ts';
import { type Cursor, type Running, nameOf } from './apply/running.ts';
import type { ProjectorDependencies } from './dependencies.ts';

const LIVE_BATCH = 1_000;
const CATCH_UP_BATCH = 5_000;
const CATCH_UP_BATCH_WINDOW_MS = 250;
/**
 * Pause after a live batch, in times of its duration, and its maximum. Most of a small transaction's cost does not depend
 * on its number of events.
 */
const LIVE_PAUSE_SHARE = 3;
const LIVE_PAUSE_MAX_MS = 100;
/** Byte limit of a batch: each projection holds its rows in memory. Usual events reach the number limit first. */
export const BATCH_BYTES_MAX = 16 * 1024 * 1024;

/** True for an event of a request: its caller waits until read models show it. A copied event may lack metadata. */
const isAwaited = ({ metadata }: RecordedEvent): boolean => {
  const actor = (metadata as Partial<EventMetadata> | undefined)?.actor;
  return actor !== undefined && actor.kind !== 'service';
};

export const createBatchReader = (follower: Follower) => {
  let isCaughtUp = false;
  let returnedAtMs = Number.POSITIVE_INFINITY;
  let taking: Promise<readonly Followed[]> | null = null;

  /** `null` when nothing arrives in time; the next call waits on. `endMs`: `null` without limit. */
  const take = async (endMs: number | null, max: number, bytesMax: number) => {
    taking ??= follower.take(max, bytesMax);
    // The failure is thrown where the items are awaited; this handler prevents an unhandled rejection.
    taking.catch(() => undefined);
    const limit = new AbortController();
    const ended =
      endMs === null ? [] : [pause(Math.max(0, endMs - performance.now()), limit.signal).then(() => null)];
    const items = await Promise.race([taking, ...ended]).finally(() => limit.abort());
    if (items !== null) taking = null;
    return items;
  };

  return async () => {
    const startMs = performance.now();
    // Far behind, writing is faster than reading. Without this window, every few events would cost a commit.
    const catchUpEndMs = startMs + CATCH_UP_BATCH_WINDOW_MS;
    const appliedMs = Math.max(0, startMs - returnedAtMs);
    const pauseEndMs = startMs + Math.min(LIVE_PAUSE_MAX_MS, LIVE_PAUSE_SHARE * appliedMs);
    const events: RecordedEvent[] = [];
    let bytes = 0;
    let position = 0n;
    let hasAwaited = false;
    const isComplete = (): boolean => {
      const isFull = events.length >= (isCaughtUp ? LIVE_BATCH : CATCH_UP_BATCH) || bytes >= BATCH_BYTES_MAX;
      return (
        isFull || performance.now() >= (isCaughtUp ? pauseEndMs : catchUpEndMs) || (isCaughtUp && hasAwaited)
      );
    };
    do {
      const max = (isCaughtUp ? LIVE_BATCH : CATCH_UP_BATCH) - events.length;
      const endMs = isCaughtUp && position > 0n ? pauseEndMs : null;
      const items = await take(endMs, max, BATCH_BYTES_MAX - bytes);
      if (items === null) break;
      if (items.length === 0) return null;
      for (const item of items) {
        if (item.kind === 'event') {
          events.push(item.event);
          bytes += item.bytes;
          position = item.event.position;
          hasAwaited ||= isAwaited(item.event);
        } else if (item.kind === 'checkpoint') position = item.position;
        else isCaughtUp = true;
      }
    } while (!isComplete());
    returnedAtMs = performance.now();
    return { events, position, isCaughtUp };
  };
};

const STORE_MS = 1_000;

/**
 * Counts events by stream category, for the lag. Records the newest one in `run.known_event`, which identifies the log.
 */
export type EventCounter = {
  position(): bigint;
  add(events: readonly RecordedEvent[], position: bigint): void;
  store(now?: boolean): Promise<void>;
};

export const openEventCounter = async (database: Database): Promise<EventCounter> => {
  const { rows } = await database.query<{ position: string }>('select position from projector.log');
  let position = BigInt(rows[0]?.position ?? 0);
  let stored = position;
  let storedAtMs = 0;
  let storing: Promise<void> = Promise.resolve();
  let counts = new Map<string, number>();
  let newest: RecordedEvent | null = null;

  const storeCounts = async (now: boolean): Promise<void> => {
    if (position === stored || (!now && performance.now() - storedAtMs < STORE_MS)) return;
    const counted = counts;
    const upTo = position;
    const known = newest;
    counts = new Map();
    storedAtMs = performance.now();
    // One statement moves counts and position, only from the position that this process stored.
    const { rows: moved } = await database.query(
      `with moved as (
         insert into projector.log as l (position) values ($1)
         on conflict (is_only) do update set position = excluded.position, updated_at = now() where l.position = $2
         returning 1
       ), counted as (
         insert into projector.log_count as c (category, facts)
         select category, facts from unnest($3::text[], $4::bigint[]) i(category, facts), moved
         on conflict (category) do update set facts = c.facts + excluded.facts
       ), known as (
         insert into run.known_event as k (position, event_id)
         select $5::bigint, $6::uuid from moved where $5::bigint is not null
         on conflict (is_only) do update set position = excluded.position, event_id = excluded.event_id
       )
       select 1 from moved`,
      [upTo, stored, [...counted.keys()], [...counted.values()], known?.position ?? null, known?.id ?? null],
    );
    if (moved.length === 0) throw new Error('another process counts the events of the log');
    stored = upTo;
  };

  return {
    position: () => position,
    add: (events, upTo) => {
      if (upTo <= position) return;
      for (const event of events) {
        if (event.position <= position) continue;
        const category = event.stream.slice(0, event.stream.indexOf('-') + 1);
        counts.set(category, (counts.get(category) ?? 0) + 1);
        newest = event;
      }
      position = upTo;
    },
    store: (now = false) => {
      // Serial writes: each starts from the position that the previous one stored.
      storing = storing.then(() => storeCounts(now));
      return storing;
    },
  };
};

const BUFFERED_ITEMS = 10_000;
/** Maximum distance of projections that share a reader. A projection further behind would delay the others. */
const GROUP_DISTANCE_BYTES = 16n * 1024n * 1024n;

export type ReaderGroup = Followers & { readonly counter: EventCounter | null };

/** Groups projections by position, furthest first. Failed ones and those on probation read alone. */
export const groupReaders = (
  running: readonly Running[],
  cursor: Cursor | null,
  counter: EventCounter | null,
  head: bigint,
): readonly ReaderGroup[] => {
  const groups: Running[][] = [];
  for (const one of running
    .filter(({ readsAlone }) => !readsAlone)
    .toSorted((a, b) => (a.position > b.position ? -1 : a.position < b.position ? 1 : 0))) {
    const group = groups.at(-1);
    if (group?.[0] && group[0].position - one.position <= GROUP_DISTANCE_BYTES) group.push(one);
    else groups.push([one]);
  }
  const furthest = groups[0]?.[0]?.position;
  const isNear =
    furthest !== undefined &&
    counter !== null &&
    head - furthest <= GROUP_DISTANCE_BYTES &&
    furthest - counter.position() <= GROUP_DISTANCE_BYTES;
  const readerGroups = groups.map(
    (group, index): ReaderGroup => ({
      running: group,
      cursor: group.some(({ row }) => row === null) ? cursor : null,
      counter: isNear && index === 0 ? counter : null,
    }),
  );
  const alone = running
    .filter(({ readsAlone }) => readsAlone)
    .map((one): ReaderGroup => ({ running: [one], cursor: null, counter: null }));
  const own: readonly ReaderGroup[] =
    counter === null || isNear ? [] : [{ running: [], cursor: null, counter }];
  return [...readerGroups, ...alone, ...own];
};

export type Stop = { readonly at: bigint; readonly reached: () => Promise<void> };

const lowestPosition = (group: ReaderGroup): bigint => {
  const positions = group.running.map(({ position }) => position);
  if (group.counter) positions.push(group.counter.position());
  return positions.reduce((low, position) => (position < low ? position : low), positions[0] ?? 0n);
};

type Following = {
  readonly stops: readonly Stop[];
  readonly signal: AbortSignal;
  readonly onCaughtUp: () => void;
};

/** Follows the log until the signal, a stop position, or a failure in a group of several. */
export const runReaderGroup = async (
  dependencies: ProjectorDependencies,
  group: ReaderGroup,
  { stops, signal, onCaughtUp }: Following,
): Promise<void> => {
  const { eventStore, log } = dependencies;
  const { running, counter } = group;
  const [only] = running;
  const isAlone = running.length === 1 && group.cursor === null;
  if (isAlone && only) await pause(Math.max(0, only.retryAtMs - performance.now()), signal);
  if (signal.aborted) return;
  const from = lowestPosition(group);
  const followed = counter ? dependencies.projections : running;
  const prefixes = [...new Set(followed.flatMap((one) => one.prefixes))];
  await using follower = eventStore.follow({
    after: from === 0n ? null : from,
    prefixes,
    bufferItems: BUFFERED_ITEMS,
  });
  const end = (): void => void follower[Symbol.asyncDispose]();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const dispatcher = createBatchDispatcher(dependencies, group);
  const readBatch = createBatchReader(follower);
  const [stop] = stops.toSorted((a, b) => (a.at < b.at ? -1 : 1));

  const apply = async (...batch: Parameters<typeof dispatcher.apply>): Promise<boolean> => {
    for (;;) {
      const failed: readonly Failed[] = await dispatcher.apply(...batch);
      const [first] = failed;
      if (first === undefined) return true;
      if (!isAlone) return false;
      await pause(first.delayMs, signal);
      if (signal.aborted) return false;
      dispatcher.resume(first.one);
    }
  };

  try {
    for (let wasCaughtUp = false; ; ) {
      const batch = await readBatch();
      if (batch === null) return;
      const { events, position } = batch;
      if (stop && position >= stop.at) {
        const before = events.filter((event) => event.position <= stop.at);
        const last = before.at(-1);
        if (last && !(await apply(before, last.position))) return;
        await stop.reached();
        return;
      }
      if (position > 0n) {
        // Counts before applying, so that lag is visible even if applying hangs.
        counter?.add(events, position);
        await counter?.store();
        if (!(await apply(events, position))) return;
      }
      if (!batch.isCaughtUp || wasCaughtUp) continue;
      wasCaughtUp = true;
      for (const one of running) {
        if (!one.live) await recordState(dependencies.database, nameOf(one), 'live');
        one.live = true;
      }
      if (running.length > 0) {
        log.info({ position: String(position), projections: running.length }, 'caught up');
      }
      // A projection on probation joins the others when the probation ends, not when it has caught up.
      if (!running.some(({ readsAlone }) => readsAlone)) onCaughtUp();
    }
  } finally {
    await dispatcher.end();
    signal.removeEventListener('abort', end);
  }
};
