import { createBatchDispatcher, type Followers } from '../apply/batch-dispatcher.ts';
import { recordState } from '../apply/checkpoints.ts';
import type { Failed } from '../apply/move-positions.ts';
import { type Cursor, nameOf, type Running } from '../apply/running.ts';
import { pause } from '#platform/clock.ts';
import { createBatchReader } from './batch-reader.ts';
import type { EventCounter } from './event-counter.ts';
import type { ProjectorDependencies } from '../dependencies.ts';

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
