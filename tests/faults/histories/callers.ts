import { pause } from '#platform/clock.ts';
import type { Choose } from './kinds/kind.ts';
import type { KindRecord } from './record.ts';
import type { Session } from './session.ts';

/** Longest wait between calls: they then meet every fault, and the search for an order stays small. */
const PAUSE_MAX_MS = 150;
const MOVES_OF_100 = 30;

export type CallLimits = { readonly least: number; readonly most: number };

export const play = async (
  session: Session,
  records: readonly KindRecord[],
  choose: Choose,
  { limits, isOver }: { readonly limits: CallLimits; readonly isOver: () => boolean },
): Promise<number> => {
  let done = 0;
  for (; done < limits.least || (done < limits.most && !isOver()); done += 1) {
    if (choose(100) < MOVES_OF_100) session.move();
    await records[choose(records.length)]?.act(session, choose);
    await pause(choose(PAUSE_MAX_MS));
  }
  return done;
};

export const readAll = async (session: Session, records: readonly KindRecord[]): Promise<void> => {
  for (const record of records) {
    await record.read(session);
    session.move();
    await record.read(session);
  }
};
