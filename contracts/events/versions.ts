import type { Event } from './event.ts';

export type EventData = Readonly<Record<string, unknown>>;

/** Translates data from one schema version to the next. Pure; never throws for recorded data. */
export type Upcaster = (data: EventData) => EventData;

/**
 * Upcasters per type, the first from version 1 to 2; the current version is their number plus one. A new type without
 * an entry does not compile.
 */
export type EventVersions<E extends Event> = Readonly<Record<E['type'], readonly Upcaster[]>>;
