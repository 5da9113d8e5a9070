import type { Event } from './event.ts';

export type EventData = Readonly<Record<string, unknown>>;

/** Translates data from one schema version to the next. Pure; never throws for recorded data. */
export type Upcaster = (data: EventData) => EventData;

/** Upcasters per type, from version 1 on; the current version is their number plus one. A type needs an entry. */
export type EventVersions<E extends Event> = Readonly<Record<E['type'], readonly Upcaster[]>>;
