import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { Group } from './commit-group.ts';
import { insertGroup } from './insert-group.ts';
import type { StoredEvent, WriteOutcome, WriteRequest } from '../model.ts';
import type { RecentEvents } from '../storage/event-cache.ts';
import { idKey, RecentIds, REMEMBERED_IDS } from './recent-event-ids.ts';
import { metadataStreamOf } from '../storage/stream-metadata.ts';
import type { StreamStates } from '../storage/stream-states.ts';
import { parseUuid } from '../wire/uuid.ts';
import { newestIds, writtenIdsOver } from './stored-event-ids.ts';

const MAX_GROUP_EVENTS = 2_000;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;
/** Callers are asked to pause above this. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
const OVERDUE_CHECK_MS = 50;
const FIRST_POSITION_GAP = 256;
const UNIQUE_VIOLATION = '23505';

interface Pending {
  readonly request: WriteRequest;
  readonly bytes: number;
  settled: boolean;
}

/**
 * Group commit: decides what arrives during a commit together, writes it in one statement, and answers only after its
 * commit.
 */
export class Writer {
  readonly #states: StreamStates;
  readonly #recentEvents: RecentEvents;
  readonly #recentIds = new RecentIds();
  readonly #onLost: (error: unknown) => void;
  #client: pg.Client | null = null;
  #waiting: Pending[] = [];
  #waitingBytes = 0;
  #inFlight: readonly Pending[] = [];
  #busyWith: pg.Client | null = null;
  #running: Promise<void> = Promise.resolve();
  #nextPosition = FIRST_POSITION_GAP;
  #onRelief: (() => void)[] = [];
  readonly #overdueCheck: NodeJS.Timeout;

  /** `onLost` reports a connection that can no longer be trusted; `open` must follow with a new one. */
  constructor(states: StreamStates, recentEvents: RecentEvents, onLost: (error: unknown) => void) {
    this.#states = states;
    this.#recentEvents = recentEvents;
    this.#onLost = onLost;
    this.#overdueCheck = setInterval(() => this.#settleOverdue(), OVERDUE_CHECK_MS);
    this.#overdueCheck.unref();
  }

  async open(client: pg.Client): Promise<void> {
    await this.#states.load(client);
    const ids = await newestIds(client, REMEMBERED_IDS);
    this.#recentIds.forgetAll();
    for (const { id, position } of ids) this.#recentIds.remember(idKey(id), position);
    const lastPosition = ids.at(-1)?.position ?? 0;
    this.#nextPosition = lastPosition + FIRST_POSITION_GAP;
    this.#recentEvents.reset(lastPosition);
    if (lastPosition === 0) await this.#writeFirstEvent(client);
    this.#client = client;
  }

  submit(request: WriteRequest): void {
    if (this.#client === null) {
      request.settle(UNAVAILABLE);
      return;
    }
    let bytes = 0;
    for (const event of request.events) bytes += event.data.length + event.metadata.length;
    this.#waiting.push({ request, bytes, settled: false });
    this.#waitingBytes += bytes;
    if (this.#busyWith !== this.#client) this.#running = this.#start(this.#client);
  }

  get isFull(): boolean {
    return this.#waitingBytes > MAX_WAITING_BYTES;
  }

  /** Calls back once, when less is waiting. */
  onRelief(callback: () => void): void {
    this.#onRelief.push(callback);
  }

  /** Requests are refused as unavailable until `open` is called again. */
  suspend(): void {
    this.#client = null;
    for (const pending of this.#inFlight) settle(pending, UNAVAILABLE);
    for (const pending of this.#waiting) settle(pending, UNAVAILABLE);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#relieve();
  }

  async close(): Promise<void> {
    clearInterval(this.#overdueCheck);
    await this.#running;
    this.suspend();
  }

  async #start(client: pg.Client): Promise<void> {
    this.#busyWith = client;
    // Deferred, so that everything that arrived in the same packet joins the same group.
    await new Promise<void>((resolve) => setImmediate(resolve));
    try {
      while (client === this.#client && this.#waiting.length > 0) {
        this.#inFlight = this.#takeGroup();
        await this.#writeGroup(client, this.#inFlight);
      }
    } catch (error) {
      // It is unknown whether the group was written, so all state is reloaded before the next one.
      if (client === this.#client) {
        this.suspend();
        this.#onLost(error);
      }
    } finally {
      if (this.#busyWith === client) {
        this.#busyWith = null;
        this.#inFlight = [];
      }
    }
  }

  #takeGroup(): Pending[] {
    let events = 0;
    let bytes = 0;
    let count = 0;
    for (const pending of this.#waiting) {
      if (count > 0 && (events >= MAX_GROUP_EVENTS || bytes >= MAX_GROUP_BYTES)) break;
      events += pending.request.events.length;
      bytes += pending.bytes;
      count += 1;
    }
    const group = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    this.#waitingBytes -= bytes;
    if (!this.isFull) this.#relieve();
    return group.filter((pending) => !pending.settled);
  }

  async #writeGroup(client: pg.Client, pendings: readonly Pending[]): Promise<void> {
    try {
      await this.#decideAndInsert(client, pendings, true);
    } catch (error) {
      if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
      // A stream that was assumed to be new exists: look these streams up and decide again.
      await this.#decideAndInsert(client, pendings, false);
    }
  }

  async #decideAndInsert(
    client: pg.Client,
    pendings: readonly Pending[],
    isOptimistic: boolean,
  ): Promise<void> {
    const unknown = this.#unknownStreams(pendings, isOptimistic);
    if (unknown.length > 0) await this.#states.loadHeads(client, unknown);
    const group = new Group(this.#states, this.#recentIds, writtenIdsOver(client), {
      nextPosition: this.#nextPosition,
      nowMs: Date.now(),
    });
    const outcomes: WriteOutcome[] = [];
    for (const pending of pendings) {
      const outcome = group.decide(pending.request);
      outcomes.push(outcome instanceof Promise ? await outcome : outcome);
    }
    if (group.events.length > 0) await client.query(insertGroup(group.events));
    if (client !== this.#client) throw new Error('The connection was given up while the group was written.');
    // From here on the group is durable, and the in-memory state belongs to the same connection.
    this.#nextPosition = group.nextPosition;
    this.#states.apply(group.states);
    for (const [key, position] of group.ids) this.#recentIds.remember(key, position);
    for (const [index, pending] of pendings.entries()) settle(pending, outcomes[index] as WriteOutcome);
    this.#recentEvents.publish(group.events);
  }

  #unknownStreams(pendings: readonly Pending[], isOptimistic: boolean): string[] {
    const unknown = new Set<string>();
    for (const { request } of pendings) {
      const isTakenForNew = isOptimistic && request.kind === 'append' && request.expected === 'no_stream';
      if (!isTakenForNew && this.#states.head(request.stream) === undefined) unknown.add(request.stream);
      // Deleting a stream and reviving it also write to its metadata stream.
      if (request.kind !== 'soft-delete' && !this.#states.isSoftDeleted(request.stream)) continue;
      const metadataStream = metadataStreamOf(request.stream);
      if (this.#states.head(metadataStream) === undefined) unknown.add(metadataStream);
      if (this.#states.head(request.stream) === undefined) unknown.add(request.stream);
    }
    return [...unknown];
  }

  /** A fresh server has system events in $all too. Without one, a service that fails on them would go unnoticed. */
  async #writeFirstEvent(client: pg.Client): Promise<void> {
    const event: StoredEvent = {
      position: this.#nextPosition,
      revision: 0,
      stream: Buffer.from('$local-event-store'),
      id: parseUuid(Buffer.from(randomUUID(), 'latin1')) as Buffer,
      type: Buffer.from('$StoreCreated'),
      isJson: true,
      createdMs: Date.now(),
      data: Buffer.from('{}'),
      metadata: Buffer.alloc(0),
    };
    await client.query(insertGroup([event]));
    this.#nextPosition += FIRST_POSITION_GAP;
    this.#recentEvents.publish([event]);
  }

  #settleOverdue(): void {
    const nowMs = Date.now();
    for (const pending of [...this.#inFlight, ...this.#waiting]) {
      if (pending.request.deadlineMs <= nowMs) settle(pending, { kind: 'timeout' });
    }
  }

  #relieve(): void {
    if (this.#onRelief.length === 0) return;
    const callbacks = this.#onRelief;
    this.#onRelief = [];
    for (const callback of callbacks) callback();
  }
}

const UNAVAILABLE: WriteOutcome = {
  kind: 'unavailable',
  message: 'The event store cannot reach its database.',
};

function settle(pending: Pending, outcome: WriteOutcome): void {
  if (pending.settled) return;
  pending.settled = true;
  pending.request.settle(outcome);
}
