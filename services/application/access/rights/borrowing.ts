import type { Ask, Caller } from './caller.ts';
import type { Given } from './rights-bus.ts';

/** Time in ms that a request waits for rights of other processes: with late timers at most 100. */
export const RIGHTS_WAIT_MS = 90;
/** Time in ms for which a caller without rights anywhere is refused before the others are asked again. */
const NONE_FOR_MS = 1_000;
/** The same when not all others have answered in time. */
const ASK_AGAIN_MS = 100;

/** Calls back at the end of a wait. Answers that have arrived by then are read first, also after a late event loop. */
export const afterWait = (end: () => void): NodeJS.Timeout =>
  setTimeout(() => setImmediate(end), RIGHTS_WAIT_MS);

/** Questions of this process for rights of others, in the current window. */
export type Borrowing = {
  /** Asks all others for rights of a caller. */
  ask(caller: Caller): void;
  /** Takes an answer. One that comes late still brings its rights. */
  receive(given: Given): void;
  /** Forgets all questions. */
  clear(): void;
};

export type BorrowingOptions = {
  /** Sends a question. */
  readonly send: (number: number, caller: Caller) => void;
  /** Returns the number of processes that can answer. */
  readonly countHeard: () => number;
  /** Called when rights have come. */
  readonly serve: (caller: Caller) => void;
  /** Called when none have come. */
  readonly refuse: (caller: Caller) => void;
};

export const createBorrowing = ({ send, countHeard, serve, refuse }: BorrowingOptions): Borrowing => {
  const asks = new Map<number, Ask>();
  let lastAsk = 0;

  const close = (number: number, ask: Ask): void => {
    clearTimeout(ask.timer);
    const { caller } = ask;
    if (caller.ask !== ask) return;
    caller.ask = null;
    const isAnswered = ask.answered.size >= ask.expected;
    if (isAnswered) asks.delete(number);
    if (ask.given > 0) {
      if (caller.waiting.length > 0) askOthers(caller);
      return;
    }
    // Without all answers rights may still come, and the next request asks again.
    caller.noneUntil = performance.now() + (isAnswered ? NONE_FOR_MS : ASK_AGAIN_MS);
    refuse(caller);
  };

  const askOthers = (caller: Caller): void => {
    const number = (lastAsk += 1);
    const timer = afterWait(() => close(number, ask));
    const ask: Ask = { caller, answered: new Set(), expected: countHeard(), given: 0, timer };
    asks.set(number, ask);
    caller.ask = ask;
    send(number, caller);
  };

  return {
    ask: askOthers,
    receive: ({ node: from, ask: number, rights }) => {
      const ask = asks.get(number);
      if (!ask || ask.answered.has(from)) return;
      ask.answered.add(from);
      if (rights > 0) {
        ask.given += rights;
        ask.caller.moved += Math.min(rights, ask.caller.limit);
        serve(ask.caller);
      }
      if (ask.answered.size >= ask.expected) close(number, ask);
    },
    clear: () => {
      for (const { timer } of asks.values()) clearTimeout(timer);
      asks.clear();
    },
  };
};
