import { randomUUID } from 'node:crypto';
import { conflict, decide, decideDeletion, type StreamState } from '../storage/expected-revision.ts';
import type { ProposedEvent, StoredEvent, WriteOutcome, WriteRequest, Written } from '../model.ts';
import { TOMBSTONE_REVISION } from '../wire/protobuf.ts';
import { idKey, type RecentIds } from './recent-event-ids.ts';
import {
  describedStream,
  isMetadataStream,
  METADATA_TYPE,
  metadataStreamOf,
  parseMetadata,
  revivedJson,
  SOFT_DELETED_JSON,
} from '../storage/stream-metadata.ts';
import { StatesInGroup, type StreamStates } from '../storage/stream-states.ts';
import { parseUuid } from '../wire/uuid.ts';

export interface WrittenId {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  readonly id: Buffer;
}

/** Rare, so one lookup at a time is enough. */
export interface WrittenIds {
  inStream(stream: string, first: number, last: number): Promise<WrittenId[]>;
  at(position: number): Promise<WrittenId | null>;
}

const EMPTY = Buffer.alloc(0);
const STREAM_DELETED = Buffer.from('$streamDeleted');
const METADATA = Buffer.from(METADATA_TYPE);
/** Positions grow by about the event's size, as in the real log, so that no client relies on position + 1. */
const POSITION_OVERHEAD = 64;

/**
 * Decides each request against the state after the earlier ones of the group. Nothing takes effect before the commit.
 */
export class Group {
  readonly events: StoredEvent[] = [];
  /** Remembered only after the group has been committed. */
  readonly ids = new Map<string, number>();
  readonly states: StatesInGroup;
  #nextPosition: number;
  readonly #createdMs: number;
  readonly #recentIds: RecentIds;
  readonly #writtenIds: WrittenIds;

  constructor(
    states: StreamStates,
    recentIds: RecentIds,
    writtenIds: WrittenIds,
    start: { readonly nextPosition: number; readonly nowMs: number },
  ) {
    this.states = new StatesInGroup(states);
    this.#recentIds = recentIds;
    this.#writtenIds = writtenIds;
    this.#nextPosition = start.nextPosition;
    this.#createdMs = start.nowMs;
  }

  get nextPosition(): number {
    return this.#nextPosition;
  }

  /** Returns a promise only when the log must be read. */
  decide(request: WriteRequest): WriteOutcome | Promise<WriteOutcome> {
    if (request.deadlineMs <= this.#createdMs) return { kind: 'timeout' };
    const state = this.states.state(request.stream);
    if (request.kind !== 'append') return this.#delete(request, request.kind, state);
    const decision = decide(state, request.expected);
    switch (decision.kind) {
      case 'write':
        return this.#append(request, state);
      case 'compare':
        return this.#compare(request, state, decision.firstRevision);
      case 'write-unless-recent':
        return this.#appendUnlessRecent(request, state);
      case 'refuse':
        return decision.refusal;
    }
  }

  #append(request: WriteRequest, state: StreamState): Written {
    if (request.events.length === 0) return { kind: 'written', revision: state.revision, position: null };
    if (state.softDeleted) this.#revive(request.stream, state);
    const stream = Buffer.from(request.stream, 'utf8');
    let revision = state.revision;
    let position = 0;
    for (const event of request.events) {
      revision += 1;
      position = this.#add(stream, revision, event);
    }
    this.states.heads.set(request.stream, revision);
    if (isMetadataStream(request.stream)) this.#noteMetadata(request.stream, request.events);
    return { kind: 'written', revision, position };
  }

  #add(stream: Buffer, revision: number, event: ProposedEvent): number {
    const position = this.#nextPosition;
    const { id, type, isJson, data, metadata } = event;
    const createdMs = this.#createdMs;
    this.events.push({ position, revision, stream, id, type, isJson, createdMs, data, metadata });
    this.ids.set(idKey(id), position);
    this.#nextPosition += POSITION_OVERHEAD + stream.length + type.length + data.length + metadata.length;
    return position;
  }

  #noteMetadata(stream: string, events: readonly ProposedEvent[]): void {
    const last = events.findLast((event) => event.type.equals(METADATA));
    if (last !== undefined) this.states.metadata.set(describedStream(stream), parseMetadata(last.data));
  }

  #revive(stream: string, state: StreamState): void {
    this.#setMetadata(stream, revivedJson(this.states.metadataOf(stream), state.revision + 1));
  }

  #setMetadata(stream: string, data: Buffer): number {
    const metadataStream = metadataStreamOf(stream);
    const revision = this.states.head(metadataStream) + 1;
    const event = { id: randomId(), type: METADATA, isJson: true, data, metadata: EMPTY };
    const position = this.#add(Buffer.from(metadataStream, 'utf8'), revision, event);
    this.states.heads.set(metadataStream, revision);
    this.states.metadata.set(stream, parseMetadata(data));
    return position;
  }

  #delete(request: WriteRequest, kind: 'soft-delete' | 'tombstone', state: StreamState): WriteOutcome {
    const decision = decideDeletion(state, request.expected, kind);
    if (decision.kind === 'refuse') return decision.refusal;
    if (kind === 'soft-delete') {
      const position = this.#setMetadata(request.stream, Buffer.from(SOFT_DELETED_JSON));
      return { kind: 'written', revision: state.revision, position };
    }
    const event = { id: randomId(), type: STREAM_DELETED, isJson: false, data: EMPTY, metadata: EMPTY };
    const position = this.#add(Buffer.from(request.stream, 'utf8'), TOMBSTONE_REVISION, event);
    this.states.tombstones.add(request.stream);
    return { kind: 'written', revision: TOMBSTONE_REVISION, position };
  }

  async #appendUnlessRecentAt(
    request: WriteRequest,
    state: StreamState,
    position: number,
  ): Promise<WriteOutcome> {
    const planned = this.#planned((event) => event.position === position);
    const written = planned[0] ?? (await this.#writtenIds.at(position));
    const isRepeat =
      written !== null && written.stream === request.stream && written.id.equals(firstId(request.events));
    return isRepeat ? this.#compare(request, state, written.revision) : this.#append(request, state);
  }

  #appendUnlessRecent(request: WriteRequest, state: StreamState): WriteOutcome | Promise<WriteOutcome> {
    if (request.events.length === 0) return this.#append(request, state);
    const key = idKey(firstId(request.events));
    const position = this.ids.get(key) ?? this.#recentIds.positionOf(key);
    if (position === undefined) return this.#append(request, state);
    return this.#appendUnlessRecentAt(request, state, position);
  }

  /** A repeated append gets its original result; any difference is a conflict. */
  async #compare(request: WriteRequest, state: StreamState, first: number): Promise<WriteOutcome> {
    const { events, stream } = request;
    if (events.length === 0) return { kind: 'written', revision: state.revision, position: null };
    const last = first + events.length - 1;
    const planned = this.#planned((event) => event.revision >= first && event.revision <= last, stream);
    const stored =
      planned.length === events.length ? [] : await this.#writtenIds.inStream(stream, first, last);
    const written = [...stored, ...planned];
    const isRepeat =
      written.length === events.length && events.every((event, index) => written[index]?.id.equals(event.id));
    if (!isRepeat) return conflict(state, request.expected);
    return { kind: 'written', revision: last, position: written.at(-1)?.position ?? null };
  }

  #planned(matches: (event: StoredEvent) => boolean, stream?: string): WrittenId[] {
    const found: WrittenId[] = [];
    for (const event of this.events) {
      if (!matches(event)) continue;
      const name = event.stream.toString('utf8');
      if (stream !== undefined && name !== stream) continue;
      found.push({ stream: name, revision: event.revision, position: event.position, id: event.id });
    }
    return found;
  }
}

function firstId(events: readonly ProposedEvent[]): Buffer {
  return (events[0] as ProposedEvent).id;
}

function randomId(): Buffer {
  return parseUuid(Buffer.from(randomUUID(), 'latin1')) as Buffer;
}
