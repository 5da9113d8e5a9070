import { z } from 'zod';

/** The caller or process that caused an event. */
export const Actor = z.strictObject({
  kind: z.enum(['api_key', 'connection', 'member', 'service']),
  id: z.string(),
});
export type Actor = z.infer<typeof Actor>;

/** Metadata of every event. The event store defines the names that start with `$`. */
export type EventMetadata = {
  readonly $correlationId: string;
  readonly $causationId: string;
  readonly request_id: string;
  readonly actor: Actor;
  readonly workspace_id?: string;
  /** Version of the event type's schema (`schema-registry.ts`). The event store adds it when it appends. */
  readonly schema_version: number;
  /** W3C Trace Context of the request or job that recorded the event, if it was traced. */
  readonly traceparent?: string;
};

/** Metadata of a command's events, to which the event store adds the schema version of each. */
export type CommandMetadata = Omit<EventMetadata, 'schema_version'>;

/** An event before it is recorded. Decisions return these. */
export type Event<Type extends string = string, Data = unknown> = {
  readonly type: Type;
  readonly data: Data;
};

/** An event as read from the log. */
export type RecordedEvent<F extends Event = Event> = F & {
  readonly stream: string;
  readonly revision: bigint;
  /** Commit position in `$all`: increasing, not contiguous. */
  readonly position: bigint;
  /** Commit position at which the event was first recorded. Present only when the log was copied from another. */
  readonly firstPosition?: bigint;
  /** When the event was recorded; for a copied event, when it was first recorded. */
  readonly recordedAt: Date;
  readonly id: string;
  readonly metadata: EventMetadata;
  /** The schema version, where this release does not know the type or the version; the data is then unchanged. */
  readonly unreadable?: number;
};

/**
 * Returns the category of a stream. Categories are camelCase without a hyphen, so the first hyphen ends the
 * category.
 */
export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'));

/** Returns the part after the category. For a workspace's streams it is `<workspaceId>` or `<workspaceId>+<id>`. */
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
