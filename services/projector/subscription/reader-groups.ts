import type { RecordedEvent } from '#contracts/events/event.ts';
import { pause } from '#platform/clock.ts';
import { openApplying, type Running } from '../apply/batch-dispatcher.ts';
import { recordState } from '../apply/checkpoints.ts';
import type { LogCounter } from './event-counter.ts';
import type { ProjectorDependencies } from '../dependencies.ts';

/** Events taken together: whatever has arrived when live; when far behind, so many, or those of so long. */
const LIVE_BATCH = 1_000;
const CATCH_UP_BATCH = 5_000;
const CATCH_UP_GATHER_MS = 250;
/** While events come by the dozen, so long is waited for more: fewer commits leave more to whoever records. */
const LIVE_GATHER_MS = 3;
const GATHERED_FROM_EVENTS = 50;
const BUFFERED_ITEMS = 10_000;
/** Projections further apart than this, in the log's positions (bytes), do not read it together: the one behind would
 * hold the others for as long as it reads. */
const APART_BYTES = 16n * 1024n * 1024n;

/** Projections that read the log together. */
export type Lane = { readonly running: readonly Running[]; readonly counter: LogCounter | null };

/** The furthest first. The counter of the log goes with these, or ahead of them where they are far behind. */
export const lanesOf = (
  running: readonly Running[],
  counter: LogCounter | null,
  head: bigint,
): readonly Lane[] => {
  const groups: Running[][] = [];
  for (const one of running.toSorted((a, b) =>
    a.position > b.position ? -1 : a.position < b.position ? 1 : 0,
  )) {
    const group = groups.at(-1);
    if (group?.[0] && group[0].position - one.position <= APART_BYTES) group.push(one);
    else groups.push([one]);
  }
  const furthest = groups[0]?.[0]?.position;
  const isNear =
    furthest !== undefined &&
    counter !== null &&
    head - furthest <= APART_BYTES &&
    furthest - counter.position() <= APART_BYTES;
  const lanes = groups.map(
    (group, place): Lane => ({ running: group, counter: isNear && place === 0 ? counter : null }),
  );
  return counter === null || isNear ? lanes : [...lanes, { running: [], counter }];
};

/** Where a projection is to stop, and what is to be done when it has. */
export type Stop = { readonly at: bigint; readonly reached: () => Promise<void> };

const lowestOf = (lane: Lane): bigint => {
  const positions = lane.running.map(({ position }) => position);
  if (lane.counter) positions.push(lane.counter.position());
  return positions.reduce((low, position) => (position < low ? position : low), positions[0] ?? 0n);
};

/** What has arrived, or so much of it as one batch takes; `null` once the follower is closed. */
const openGathering = (follower: ReturnType<ProjectorDependencies['eventStore']['follow']>) => {
  let isCaughtUp = false;
  let recent = 0;
  return async () => {
    if (isCaughtUp && recent >= GATHERED_FROM_EVENTS) await pause(LIVE_GATHER_MS);
    const events: RecordedEvent[] = [];
    let position = 0n;
    // Far behind, writing is faster than reading: taken as they come, every few events would cost a commit.
    const gatherUntil = performance.now() + CATCH_UP_GATHER_MS;
    do {
      const items = await follower.take(isCaughtUp ? LIVE_BATCH : CATCH_UP_BATCH - events.length);
      if (items.length === 0) return null;
      for (const item of items) {
        if (item.kind === 'event') {
          events.push(item.event);
          position = item.event.position;
        } else if (item.kind === 'checkpoint') position = item.position;
        else isCaughtUp = true;
      }
    } while (!isCaughtUp && events.length < CATCH_UP_BATCH && performance.now() < gatherUntil);
    recent = events.length;
    return { events, position, isCaughtUp };
  };
};

/** Follows the log for the projections of a lane until the signal, or until one of them is to stop. */
export const runLane = async (
  dependencies: ProjectorDependencies,
  lane: Lane,
  stops: readonly Stop[],
  signal: AbortSignal,
  onCaughtUp: () => void,
): Promise<void> => {
  const { database, eventStore, log } = dependencies;
  const { running, counter } = lane;
  const from = lowestOf(lane);
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
  const applying = openApplying(database, dependencies.pipeline, log);
  const gather = openGathering(follower);
  const [stop] = stops.toSorted((a, b) => (a.at < b.at ? -1 : 1));
  try {
    for (let wasCaughtUp = false; ; ) {
      const batch = await gather();
      if (batch === null) return;
      const { events, position } = batch;
      if (stop && position >= stop.at) {
        const before = events.filter((event) => event.position <= stop.at);
        const last = before.at(-1);
        if (last) await applying.apply(running, before, last.position);
        await stop.reached();
        return;
      }
      if (position > 0n) {
        // Counted first: where applying hangs, it is seen that something waits.
        counter?.feed(events, position);
        await counter?.store();
        await applying.apply(running, events, position);
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
    await applying.end();
    signal.removeEventListener('abort', end);
  }
};
