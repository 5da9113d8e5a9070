import { randomUUID } from 'node:crypto';
import { createWakeSignal, type WakeSignal } from '#platform/concurrency/wake-signal.ts';
import type { CallWriter } from '../wire/flow-control.ts';
import { compileFilter } from './subscription-filter.ts';
import type { StoredEvent } from '../model.ts';
import type { Page, Pages } from '../storage/event-pages.ts';
import { MalformedMessage, TOMBSTONE_REVISION } from '../wire/protobuf.ts';
import {
  CAUGHT_UP,
  checkpoint,
  confirmation,
  encodeEvent,
  eventWire,
  type ReadOptions,
} from '../wire/read-codec.ts';
import { PageSize, type Reader, StreamDeleted } from './reader.ts';
import type { RecentEvents } from '../storage/event-cache.ts';
import type { StreamStates } from '../storage/stream-states.ts';

const LIVE_PAGE_EVENTS = 200;

export interface SubscriptionSources {
  readonly pages: Pages;
  readonly reader: Reader;
  readonly states: StreamStates;
  readonly recent: RecentEvents;
}

/**
 * Each subscription pulls from memory, or from the log when further behind, as fast as its client reads. A slow client
 * costs no memory and misses nothing.
 */
export async function subscribeToAll(
  options: ReadOptions,
  { pages, recent }: SubscriptionSources,
  out: CallWriter,
): Promise<void> {
  const passes = options.filter === null ? null : compileFilter(options.filter);
  const checkpointInterval = options.filter?.checkpointInterval ?? Infinity;
  const size = new PageSize();
  let position = startOfAll(options, recent);
  let isLive = false;
  let sinceCheckpoint = 0;
  let upcoming: Promise<Page> | null = null;
  const wake = createSubscriptionSignal(recent, out);
  out.send(confirmation(randomUUID()));
  while (!out.isOver) {
    let events: readonly StoredEvent[] | null = recent.after(position, LIVE_PAGE_EVENTS);
    const isHeld = events !== null;
    if (events === null) {
      isLive = false;
      ({ events } = await (upcoming ?? pages.allForwards(position, size.events)));
      upcoming = null;
      const last = events.at(-1);
      if (last !== undefined) {
        // The next page comes from the log while this one is sent, unless it is in memory by now.
        size.learn(events);
        if (!size.isLarge && recent.after(last.position, 1) === null)
          upcoming = pages.allForwards(last.position, size.events);
        upcoming?.catch(() => undefined);
      }
    }
    if (isHeld && events.length === 0) {
      if (!isLive) {
        isLive = true;
        if (passes !== null) out.send(checkpoint(position));
        sinceCheckpoint = 0;
        out.send(CAUGHT_UP);
      }
      await wake.next();
      continue;
    }
    for (const event of events) {
      if (out.isFull) await out.untilWritable();
      position = event.position;
      if (passes === null || passes(event)) out.send(isHeld ? eventWire(event) : encodeEvent(event));
      sinceCheckpoint += 1;
      if (sinceCheckpoint >= checkpointInterval) {
        sinceCheckpoint = 0;
        out.send(checkpoint(position));
      }
    }
  }
}

function startOfAll(options: ReadOptions, recent: RecentEvents): number {
  if (options.backwards) throw new MalformedMessage('A subscription goes forwards.');
  if (options.from === 'start') return 0;
  // 'end' is the last committed position. A position named by the caller is used unchanged.
  return options.from === 'end' ? recent.lastPosition : options.from;
}

export async function subscribeToStream(
  stream: string,
  options: ReadOptions,
  sources: SubscriptionSources,
  out: CallWriter,
): Promise<void> {
  const { reader, recent, states } = sources;
  if (options.backwards) throw new MalformedMessage('A subscription goes forwards.');
  if (states.isTombstoned(stream)) throw new StreamDeleted();
  const wake = createSubscriptionSignal(recent, out);
  out.send(confirmation(randomUUID()));
  const name = Buffer.from(stream, 'utf8');
  let revision = await startOfStream(stream, options, reader);
  while (!out.isOver) {
    // Read before the log is, so that an event committed meanwhile is delivered once, by revision.
    let position = recent.lastPosition;
    revision = await catchUpStream(stream, revision, sources, out);
    if (out.isOver) return;
    if (states.isTombstoned(stream)) throw new StreamDeleted();
    out.send(CAUGHT_UP);
    for (;;) {
      const events = recent.after(position, LIVE_PAGE_EVENTS);
      if (events === null || out.isOver) break;
      for (const event of events) {
        position = event.position;
        if (!event.stream.equals(name) || event.revision <= revision) continue;
        if (event.revision === TOMBSTONE_REVISION) throw new StreamDeleted();
        revision = event.revision;
        if (out.isFull) await out.untilWritable();
        out.send(eventWire(event));
      }
      if (events.length === 0) await wake.next();
    }
  }
}

async function startOfStream(stream: string, options: ReadOptions, reader: Reader): Promise<number> {
  if (options.from === 'start') return -1;
  return options.from === 'end' ? reader.lastRevision(stream) : options.from;
}

/** Returns the last revision that was sent. */
async function catchUpStream(
  stream: string,
  after: number,
  { pages, reader, states }: SubscriptionSources,
  out: CallWriter,
): Promise<number> {
  const size = new PageSize();
  let revision = after;
  while (!out.isOver && !states.isSoftDeleted(stream)) {
    const lowest = Math.max(revision + 1, await reader.firstVisible(stream));
    const highest = TOMBSTONE_REVISION - 1;
    const limit = size.events;
    const page = await pages.ofStream(stream, { lowest, highest, backwards: false, limit });
    for (const event of page.events) {
      revision = event.revision;
      if (out.isFull) await out.untilWritable();
      out.send(encodeEvent(event));
    }
    if (page.isLast) break;
    size.learn(page.events);
  }
  return revision;
}

/** Wakes a subscription when events may be new, or when its call has ended. */
function createSubscriptionSignal(recent: RecentEvents, out: CallWriter): WakeSignal {
  const signal = createWakeSignal();
  const stop = recent.listen(signal.notify);
  out.onOver(() => {
    stop();
    signal.notify();
  });
  return signal;
}
