import { z } from 'zod';

/** Who caused an event. */
export const Actor = z.strictObject({ kind: z.enum(['api_key', 'member', 'service']), id: z.string() });
export type Actor = z.infer<typeof Actor>;

/** Metadata of every event. The `$` names are the event store's own convention. */
export type EventMetadata = {
  readonly $correlationId: string;
  readonly $causationId: string;
  readonly request_id: string;
  readonly actor: Actor;
  readonly workspace_id?: string;
  readonly schema_version: number;
  /** W3C Trace Context of what recorded it, where that was traced. */
  readonly traceparent?: string;
};

/** An event before it is recorded: what a decision answers. */
export type Event<Type extends string = string, Data = unknown> = {
  readonly type: Type;
  readonly data: Data;
};

/** An event as a projection meets it. */
export type RecordedEvent<F extends Event = Event> = F & {
  readonly stream: string;
  readonly revision: bigint;
  /** Commit position in `$all`: increasing, not contiguous. */
  readonly position: bigint;
  readonly recordedAt: Date;
  readonly id: string;
  readonly metadata: EventMetadata;
};

/** Categories are camelCase without a hyphen, so the first hyphen ends the category. */
export const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'));

/** The id behind the category; a workspace's streams carry `<workspaceId>+<id>`. */
export const idOf = (stream: string): string => stream.slice(stream.indexOf('-') + 1);
