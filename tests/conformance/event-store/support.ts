import { randomUUID } from 'node:crypto';
import {
  type AllStreamRecordedEvent,
  type AllStreamSubscription,
  type EventStoreDBClient,
  type JSONEventData,
  jsonEvent,
  type Position,
  type RecordedEvent,
  type StreamSubscription,
} from '@eventstore/db-client';

/** Enough for a container that has just started, on a busy machine. */
const WAIT_LIMIT_MS = 45_000;

/** No other case uses the stream, and no service uses the default category. */
export function newStream(category = 'conformance'): string {
  return `${category}-${randomUUID()}`;
}

export function newEvents(count: number, type = 'Happened'): JSONEventData[] {
  return Array.from({ length: count }, (_, number) => jsonEvent({ type, data: { number } }));
}

export async function fill(
  client: EventStoreDBClient,
  stream: string,
  count: number,
): Promise<JSONEventData[]> {
  const events = newEvents(count);
  await client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
  return events;
}

export async function readWhole(client: EventStoreDBClient, stream: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const { event } of client.readStream(stream)) if (event !== undefined) events.push(event);
  return events;
}

export function idsOf(events: readonly { id: string }[]): string[] {
  return events.map((event) => event.id);
}

export function revisionsOf(events: readonly { revision: bigint }[]): number[] {
  return events.map((event) => Number(event.revision));
}

export function isBefore(first: Position, second: Position): boolean {
  return first.commit < second.commit;
}

/** Resolves with the error that the promise rejects with. Throws when it does not reject. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`Expected an error, got ${String(value)}.`);
    },
    (error: unknown) => error,
  );
}

export class Follower {
  readonly events: AllStreamRecordedEvent[] = [];
  readonly checkpoints: Position[] = [];
  /** All messages in order of arrival: ids of events, and names of other messages. */
  readonly trace: string[] = [];
  error: Error | null = null;
  readonly #counts = new Map<string, number>();
  #onChange: (() => void)[] = [];
  readonly #subscription: AllStreamSubscription | StreamSubscription;

  constructor(subscription: AllStreamSubscription | StreamSubscription) {
    this.#subscription = subscription;
    const stream: AllStreamSubscription = subscription as AllStreamSubscription;
    stream.on('confirmation', () => this.#note('confirmation'));
    stream.on('caughtUp', () => this.#note('caughtUp'));
    stream.on('error', (error: Error) => {
      this.error = error;
      this.#note('error');
    });
    stream.on('data', ({ event }) => {
      if (event === undefined) return;
      this.events.push(event);
      this.#note(event.id);
    });
  }

  noteCheckpoint(position: Position): void {
    this.checkpoints.push(position);
    this.#note('checkpoint');
  }

  count(entry: string): number {
    return this.#counts.get(entry) ?? 0;
  }

  /** Waits until the condition holds. Throws after `WAIT_LIMIT_MS`. */
  async until(condition: (follower: Follower) => boolean, what: string): Promise<void> {
    const deadline = Date.now() + WAIT_LIMIT_MS;
    while (!condition(this)) {
      const leftMs = deadline - Date.now();
      if (leftMs <= 0)
        throw new Error(`Timed out waiting for ${what}; last messages: ${this.trace.slice(-20).join(', ')}`);
      await this.#change(leftMs);
    }
  }

  async close(): Promise<void> {
    await this.#subscription.unsubscribe();
  }

  #note(entry: string): void {
    this.trace.push(entry);
    this.#counts.set(entry, this.count(entry) + 1);
    const waiting = this.#onChange;
    this.#onChange = [];
    for (const callback of waiting) callback();
  }

  #change(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#onChange.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
