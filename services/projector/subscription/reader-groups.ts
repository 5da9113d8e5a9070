import { createBatchDispatcher, type Running } from '../apply/batch-dispatcher.ts';
import { recordState } from '../apply/checkpoints.ts';
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
export type ReaderGroup = { readonly running: readonly Running[]; readonly counter: EventCounter | null };

/**
 * Groups projections by position, furthest first. The event counter joins the furthest group if it is close
 * to the head of the log; otherwise it reads on its own.
 */
export const groupReaders = (
  running: readonly Running[],
  counter: EventCounter | null,
  head: bigint,
): readonly ReaderGroup[] => {
  const groups: Running[][] = [];
  for (const one of running.toSorted((a, b) =>
    a.position > b.position ? -1 : a.position < b.position ? 1 : 0,
  )) {
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
    (group, index): ReaderGroup => ({ running: group, counter: isNear && index === 0 ? counter : null }),
  );
  return counter === null || isNear ? readerGroups : [...readerGroups, { running: [], counter }];
};

/** A stop position for a projection, and the callback to run when it is reached. */
export type Stop = { readonly at: bigint; readonly reached: () => Promise<void> };

const lowestPosition = (group: ReaderGroup): bigint => {
  const positions = group.running.map(({ position }) => position);
  if (group.counter) positions.push(group.counter.position());
  return positions.reduce((low, position) => (position < low ? position : low), positions[0] ?? 0n);
};

/** Follows the log for one reader group, until the signal or until a stop position is reached. */
export const runReaderGroup = async (
  dependencies: ProjectorDependencies,
  group: ReaderGroup,
  stops: readonly Stop[],
  signal: AbortSignal,
  onCaughtUp: () => void,
): Promise<void> => {
  const { database, eventStore, log } = dependencies;
  const { running, counter } = group;
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
  const dispatcher = createBatchDispatcher(database, dependencies.pipeline, log);
  const readBatch = createBatchReader(follower);
  const [stop] = stops.toSorted((a, b) => (a.at < b.at ? -1 : 1));
  try {
    for (let wasCaughtUp = false; ; ) {
      const batch = await readBatch();
      if (batch === null) return;
      const { events, position } = batch;
      if (stop && position >= stop.at) {
        const before = events.filter((event) => event.position <= stop.at);
        const last = before.at(-1);
        if (last) await dispatcher.apply(running, before, last.position);
        await stop.reached();
        return;
      }
      if (position > 0n) {
        // Counted before applying, so that lag is visible even if applying hangs.
        counter?.add(events, position);
        await counter?.store();
        await dispatcher.apply(running, events, position);
      }
      if (!batch.isCaughtUp || wasCaughtUp) continue;
      wasCaughtUp = true;
      for (const one of running) {
        if (!one.live) await recordState(database, one.target.projection.name, 'live');
        one.live = true;
      }
      if (running.length > 0) {
        log.info({ position: String(position), projections: running.length }, 'caught up');
      }
      onCaughtUp();
    }
  } finally {
    await dispatcher.end();
    signal.removeEventListener('abort', end);
  }
};
