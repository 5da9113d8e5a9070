import type { Event } from './event.ts';

/** The data of an event, as JSON. */
export type EventData = Readonly<Record<string, unknown>>;

/** Translates an event's data from one schema version to the next. Pure; never throws for recorded data. */
export type Upcaster = (data: EventData) => EventData;

/**
 * The schema versions of a category: for each event type its upcasters, the first from version 1 to 2. The current
 * version of a type is the number of its upcasters plus one. A new type without an entry does not compile.
 */
export type EventVersions<E extends Event> = Readonly<Record<E['type'], readonly Upcaster[]>>;
