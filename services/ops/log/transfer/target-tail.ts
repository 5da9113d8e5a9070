import { Refusal } from '#contracts/errors.ts';
import type { RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import { nameOf, portable, portableHash } from './portable-event.ts';

/** The newest events of a copy's target. They tell how far earlier copies came: nothing else is stored about a copy. */

/** Number of these events. More than a copy has on their way at a time. */
export const TAIL_EVENTS = 4_096;

/** An event of the tail, without its data. */
export type TailEvent = Pick<RawEvent, 'stream' | 'revision' | 'type'> & {
  readonly hash: string;
  /** Position at which the event was first recorded, or that of the target. */
  readonly firstPosition: bigint;
};

export const toTailEvent = (event: RawEvent): TailEvent => ({
  stream: event.stream,
  revision: event.revision,
  type: event.type,
  hash: portableHash(event),
  firstPosition: portable(event).position,
});

/** Reads the tail, newest event first. */
export const readTail = async (target: RawLog): Promise<readonly TailEvent[]> => {
  const newest: TailEvent[] = [];
  for await (const event of target.backwards(null)) {
    newest.push(toTailEvent(event));
    if (newest.length === TAIL_EVENTS) break;
  }
  return newest;
};

/** The refusal for a target whose event is not in the source at the same place. */
export const diverged = (event: Pick<RawEvent, 'stream' | 'revision' | 'type'>): Refusal =>
  new Refusal(
    'invalid_input',
    `The target is no copy of this log: its event ${nameOf(event)} is not there, or stands elsewhere. Nothing was ` +
      'written. Name an empty event store, or the target of an earlier copy of this log.',
  );
