import { Refusal } from '#contracts/errors.ts';
import type { RawEvent, RawLog } from '#platform/event-store/copy/raw-log.ts';
import { nameOf, portable, portableHash } from './portable-event.ts';

/** Length of the target's tail. It exceeds the unconfirmed events of a copy, so it shows where the copy stopped. */
export const TAIL_EVENTS = 4_096;

export type TailEvent = Pick<RawEvent, 'stream' | 'revision' | 'type'> & {
  readonly hash: string;
  /** Original position; the target's position for an event without a mark. */
  readonly firstPosition: bigint;
};

export const toTailEvent = (event: RawEvent): TailEvent => ({
  stream: event.stream,
  revision: event.revision,
  type: event.type,
  hash: portableHash(event),
  firstPosition: portable(event).position,
});

export const readTail = async (target: RawLog): Promise<readonly TailEvent[]> => {
  const newest: TailEvent[] = [];
  for await (const event of target.backwards(null)) {
    newest.push(toTailEvent(event));
    if (newest.length === TAIL_EVENTS) break;
  }
  return newest;
};

export const diverged = (event: Pick<RawEvent, 'stream' | 'revision' | 'type'>): Refusal =>
  new Refusal(
    'invalid_input',
    `The target is no copy of this log: its event ${nameOf(event)} is not there, or stands elsewhere. Nothing was ` +
      'written. Name an empty event store, or the target of an earlier copy of this log.',
  );
