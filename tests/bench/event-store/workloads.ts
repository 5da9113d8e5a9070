import { randomUUID } from 'node:crypto';
import {
  type EventStoreDBClient,
  type JSONEventData,
  jsonEvent,
  streamNameFilter,
} from '@eventstore/db-client';

/** About the size of our events: 460 bytes with type and ids. */
const TEXT = 'x'.repeat(400);
const SINGLE_WRITERS = 64;
const CALLS_IN_FLIGHT = 4;
const EVENTS_PER_CALL = 500;
const LIVE_PER_SECOND = 1_000;
/** As short as timers allow: events sent in bursts would wait for each other in the client. */
const LIVE_TICK_MS = 1;
const LIVE_DRAIN_MS = 2_000;

export function measuredEvent(): JSONEventData {
  return jsonEvent({ type: 'Measured', data: { text: TEXT } });
}

export async function singleAppends(client: EventStoreDBClient, durationMs: number): Promise<number> {
  const endMs = Date.now() + durationMs;
  const writers = Array.from({ length: SINGLE_WRITERS }, async () => {
    const stream = `bench-${randomUUID()}`;
    let written = 0;
    while (Date.now() < endMs) {
      await client.appendToStream(stream, measuredEvent(), { expectedRevision: 'any' });
      written += 1;
    }
    return written;
  });
  return (await Promise.all(writers)).reduce((sum, written) => sum + written, 0);
}

export async function batchedAppends(client: EventStoreDBClient, durationMs: number): Promise<number> {
  const endMs = Date.now() + durationMs;
  const writers = Array.from({ length: CALLS_IN_FLIGHT }, async () => {
    let written = 0;
    while (Date.now() < endMs) {
      const events = Array.from({ length: EVENTS_PER_CALL }, measuredEvent);
      await client.appendToStream(`bench-${randomUUID()}`, events, { expectedRevision: 'no_stream' });
      written += events.length;
    }
    return written;
  });
  return (await Promise.all(writers)).reduce((sum, written) => sum + written, 0);
}

export async function readForwards(client: EventStoreDBClient, count: number): Promise<number> {
  let read = 0;
  for await (const _ of client.readAll({ maxCount: count })) read += 1;
  return read;
}

/** Milliseconds from an append call to the subscriber's handler. */
export async function liveLatencies(client: EventStoreDBClient, durationMs: number): Promise<number[]> {
  const category = `live${randomUUID().replaceAll('-', '')}`;
  const sentMs = new Map<string, number>();
  const latencies: number[] = [];
  const filter = streamNameFilter({ prefixes: [category] });
  const subscription = client.subscribeToAll({ fromPosition: 'end', filter });
  subscription.on('data', ({ event }) => {
    const sent = event === undefined ? undefined : sentMs.get(event.id);
    if (sent !== undefined) latencies.push(performance.now() - sent);
  });
  await new Promise((resolve) => subscription.once('caughtUp', resolve));
  const startMs = performance.now();
  const appends: Promise<unknown>[] = [];
  while (performance.now() - startMs < durationMs) {
    const due = ((performance.now() - startMs) / 1000) * LIVE_PER_SECOND;
    while (appends.length < due) {
      const event = measuredEvent();
      sentMs.set(event.id, performance.now());
      appends.push(client.appendToStream(`${category}-${appends.length % 50}`, event));
    }
    await new Promise((resolve) => setTimeout(resolve, LIVE_TICK_MS));
  }
  await Promise.all(appends);
  const limitMs = performance.now() + LIVE_DRAIN_MS;
  while (latencies.length < appends.length && performance.now() < limitMs) {
    await new Promise((resolve) => setTimeout(resolve, LIVE_TICK_MS));
  }
  await subscription.unsubscribe();
  if (latencies.length < appends.length) throw new Error('A live subscriber missed events.');
  return latencies;
}
