import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { StreamState } from './expected-revision.ts';
import { TOMBSTONE_BIGINT } from './event-pages.ts';
import { describedStream, isSoftDeleted, parseMetadata, type StreamMetadata } from './stream-metadata.ts';

/** Others are looked up when written to. */
const MAX_HEADS = 200_000;

export interface StateChanges {
  readonly heads: ReadonlyMap<string, number>;
  readonly metadata: ReadonlyMap<string, StreamMetadata>;
  readonly tombstones: ReadonlySet<string>;
}

/** Metadata and tombstones are few and held completely. */
export class StreamStates {
  /** With `max` in place of `maxSize`, the cache would fill lists of that length at each start. */
  #heads = new LRUCache<string, number>({ maxSize: MAX_HEADS, sizeCalculation: () => 1 });
  #metadata = new Map<string, StreamMetadata>();
  #tombstones = new Set<string>();

  /** -1 without events, `undefined` when it must be looked up. */
  head(stream: string): number | undefined {
    return this.#heads.get(stream);
  }

  metadata(stream: string): StreamMetadata | undefined {
    return this.#metadata.get(stream);
  }

  isTombstoned(stream: string): boolean {
    return this.#tombstones.has(stream);
  }

  isSoftDeleted(stream: string): boolean {
    return isSoftDeleted(this.#metadata.get(stream));
  }

  apply(changes: StateChanges): void {
    for (const [stream, revision] of changes.heads) this.#heads.set(stream, revision);
    for (const [stream, metadata] of changes.metadata) this.#metadata.set(stream, metadata);
    for (const stream of changes.tombstones) this.#tombstones.add(stream);
  }

  async load(client: pg.Client): Promise<void> {
    const tombstones = await client.query<{ stream: string }>(
      `select stream from event_store.event where revision = ${TOMBSTONE_BIGINT}`,
    );
    const metadata = await client.query<{ stream: string; data: Buffer }>(
      `select distinct on (stream) stream, data from event_store.event
        where stream >= '$$' and stream < '$%' and type = '$metadata'
        order by stream, revision desc`,
    );
    this.#heads.clear();
    this.#tombstones = new Set(tombstones.rows.map((row) => row.stream));
    this.#metadata = new Map(
      metadata.rows.map((row) => [describedStream(row.stream), parseMetadata(row.data)]),
    );
  }

  async loadHeads(client: pg.Client, streams: readonly string[]): Promise<void> {
    const heads = await client.query<{ stream: string; revision: string }>({
      name: 'load-heads',
      text: `
        select wanted.stream, coalesce(last.revision, -1)::text as revision
          from unnest($1::text[]) as wanted (stream)
          left join lateral (
            select revision from event_store.event
             where event.stream = wanted.stream and revision < ${TOMBSTONE_BIGINT}
             order by revision desc limit 1) as last on true`,
      values: [streams],
    });
    for (const row of heads.rows) this.#heads.set(row.stream, Number(row.revision));
  }
}

/** Committed states, overlaid with the changes of the group that is being decided. */
export class StatesInGroup implements StateChanges {
  readonly heads = new Map<string, number>();
  readonly metadata = new Map<string, StreamMetadata>();
  readonly tombstones = new Set<string>();
  readonly #committed: StreamStates;

  constructor(committed: StreamStates) {
    this.#committed = committed;
  }

  /** A stream without a cached revision is assumed to be new. The unique constraint detects when it is not. */
  state(stream: string): StreamState {
    const metadata = this.metadataOf(stream);
    return {
      revision: this.head(stream),
      tombstoned: this.tombstones.has(stream) || this.#committed.isTombstoned(stream),
      softDeleted: isSoftDeleted(metadata),
      hasMetadata: metadata !== undefined,
    };
  }

  head(stream: string): number {
    return this.heads.get(stream) ?? this.#committed.head(stream) ?? -1;
  }

  metadataOf(stream: string): StreamMetadata | undefined {
    return this.metadata.get(stream) ?? this.#committed.metadata(stream);
  }
}
