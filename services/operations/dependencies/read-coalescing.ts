import type { Reply } from '../endpoint/reply.ts';

/**
 * Reads that come in within one turn of the event loop and ask for the same are one read: what many look at is asked
 * of the database once, and none sees less than a read of its own would have shown, since queries are sent at the
 * end of the turn.
 */
export type ReadCoalescing = (what: string, read: () => Promise<Reply>) => Promise<Reply>;

export const createReadCoalescing = (): ReadCoalescing => {
  let ofThisTurn = new Map<string, Promise<Reply>>();
  return (what, read) => {
    const shared = ofThisTurn.get(what);
    if (shared) return shared;
    if (ofThisTurn.size === 0) {
      setImmediate(() => {
        ofThisTurn = new Map();
      });
    }
    const reading = read();
    ofThisTurn.set(what, reading);
    return reading;
  };
};
