/** A request that waits for rights. */
export type Waiter = {
  readonly limit: number;
  /** True when the request counts; false for a look. */
  readonly counts: boolean;
  readonly settle: (allowed: boolean) => void;
};

/** A question to all other processes for rights of one caller. */
export type Ask = {
  readonly caller: Caller;
  /** Processes that have answered. Each answers once. */
  readonly answered: Set<string>;
  /** Processes that were heard when the question was sent. */
  readonly expected: number;
  given: number;
  readonly timer: NodeJS.Timeout;
};

/** One caller in the current window. */
export type Caller = {
  readonly name: string;
  limit: number;
  /** Own requests. */
  spent: number;
  /** Rights that came from other processes, less those that went to them. */
  moved: number;
  /** Requests that other processes have reported. */
  elsewhere: number;
  /** Own requests that are not published yet. */
  unpublished: number;
  waiting: Waiter[];
  ask: Ask | null;
  /** Time by the clock of `performance` until which no other process has rights. */
  noneUntil: number;
};

export const createCaller = (name: string, limit: number): Caller => ({
  name,
  limit,
  spent: 0,
  moved: 0,
  elsewhere: 0,
  unpublished: 0,
  waiting: [],
  ask: null,
  noneUntil: 0,
});
