import { createBatchDispatcher, type Followers } from '../apply/batch-dispatcher.ts';
import { recordState } from '../apply/checkpoints.ts';
import type { Failed } from '../apply/move-positions.ts';
import { type Cursor, nameOf, type Running } from '../apply/running.ts';
import { pause } from '#platform/clock.ts';
import { createBatchReader } from './batch-reader.ts';
import type { EventCounter } from './event-counter.ts';
import type { ProjectorDependencies } from '../dependencies.ts';

const BUFFERED_ITEMS = 10_000;
/**
 * Maximum distance in the log (position bytes) between projections that share a reader. A projection further
 * behind would delay the others while it catches up.
 */
const GROUP_DISTANCE_BYTES = 16n * 1024n * 1024n;

/** Projections that share one subscription to the log. */
export type ReaderGroup = Followers & { readonly counter: EventCounter | null };

/**
 * Groups projections by position, furthest first. One that failed, or is on probation, reads alone. The cursor belongs to the group of the
 * projections at it. The event counter joins the furthest group if it is close to the head of the log; otherwise it reads
 * on its own.
 */
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

/** A stop position for a projection, and the callback to run when it is reached. */
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

/**
 * Follows the log for one reader group, until the signal, until a stop position is reached, or until a projection of
 * several fails. A projection that reads alone tries a failed batch again.
 */
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

  /** Applies a batch. Returns false when the group is to end. */
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
        // Counted before applying, so that lag is visible even if applying hangs.
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
      // One on probation joins the others at its end, and not when it has caught up.
      if (!running.some(({ readsAlone }) => readsAlone)) onCaughtUp();
    }
  } finally {
    await dispatcher.end();
    signal.removeEventListener('abort', end);
  }
};
