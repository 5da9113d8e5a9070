import { z } from 'zod';

export const Actor = z.strictObject({
  kind: z.enum(['api_key', 'connection', 'member', 'service']),
  id: z.string(),
});
export type Actor = z.infer<typeof Actor>;

/** The event store defines the names that start with `$`. */
export type EventMetadata = {
  readonly $correlationId: string;
  readonly $causationId: string;
  readonly request_id: string;
  readonly actor: Actor;
  readonly workspace_id?: string;
  /** See `schema-registry.ts`. The event store adds it when it appends. */
  readonly schema_version: number;
  /** W3C Trace Context of a traced request or job. */
  readonly traceparent?: string;
};

/** The event store adds the schema version of each event. */
export type CommandMetadata = Omit<EventMetadata, 'schema_version'>;

export type Event<Type extends string = string, Data = unknown> = {
  readonly type: Type;
  readonly data: Data;
};

export type RecordedEvent<F extends Event = Event> = F & {
  readonly stream: string;
  readonly revision: bigint;
  /** Commit position in `$all`: increasing, not contiguous. */
  readonly position: bigint;
  /** Only in a log copied from another: the first commit position. */
  readonly firstPosition?: bigint;
  /** For a copied event, when it was first recorded. */
  readonly recordedAt: Date;
  readonly id: string;
  readonly metadata: EventMetadata;
  /** Schema version that this release cannot read; the data is then unchanged. */
  readonly unreadable?: number;
};

/** Categories have no hyphen, so the first hyphen ends the category. */
export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'));

/** For a workspace's streams `<workspaceId>` or `<workspaceId>+<id>`. */
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
