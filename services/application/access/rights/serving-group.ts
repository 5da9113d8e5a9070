/** Processes that have rights at the start of a window. */
export type Holders = {
  /** Their number, at least 1. */
  readonly count: number;
  /** Place of this process among them, from 0. `null`: it started too late to have rights in this window. */
  readonly place: number | null;
  /** Number of live processes, this one included. */
  readonly live: number;
  /** Number of holders that are live. */
  readonly holdersLive: number;
};

/** Processes that divide the requests of a caller among them. */
export type ServingGroup = {
  /** Name that only the processes of this group have. */
  readonly name: string;
  /** Returns the holders in a window. `window`: minutes since 1970. */
  readonly holders: (window: number) => Holders;
};

/** The holders for a process without others. */
export const ALONE: Holders = { count: 1, place: 0, live: 1, holdersLive: 1 };

/** A process as Postgres knows it. */
export type Member = {
  readonly id: string;
  /** Epoch seconds at which it registered, by the clock of Postgres. */
  readonly started_at: number;
};

/**
 * Seconds before a window at which a process must be registered to have rights in it. Longer than the interval at which
 * processes count each other, so that all divide by the same number.
 */
export const REGISTERED_BEFORE_SECONDS = 5;

/** Watches the members of a group. */
export type Membership = {
  /** Takes the list of live processes as read now. */
  see(members: readonly Member[], window: number): void;
  readonly holders: (window: number) => Holders;
};

/** `ownId`: the id of this process. `windowSeconds`: the length of a window. */
export const createMembership = (ownId: string, windowSeconds: number): Membership => {
  let live: readonly Member[] = [];
  /**
   * Processes that were live at a time of the current window. One whose row is late stays: it may have rights in this
   * window, so that no other may take its place.
   */
  let seen = new Map<string, Member>();
  let current = Number.NaN;
  /** Holders of the current window. One that dies stays: it may have used its rights. */
  let holding = new Map<string, Member>();
  let result: Holders = ALONE;

  const earliestFirst = (one: Member, other: Member): number =>
    one.started_at - other.started_at || (one.id < other.id ? -1 : 1);

  const compute = (): void => {
    const from = current * windowSeconds;
    for (const member of seen.values())
      if (member.started_at + REGISTERED_BEFORE_SECONDS < from) holding.set(member.id, member);
    // When all started within the window, the first has all rights.
    const holders =
      holding.size > 0
        ? [...holding.values()].toSorted(earliestFirst)
        : [...seen.values()].toSorted(earliestFirst).slice(0, 1);
    const place = holders.findIndex(({ id }) => id === ownId);
    const liveIds = new Set(live.map(({ id }) => id));
    result = {
      count: Math.max(1, holders.length),
      place: holders.length === 0 ? 0 : place === -1 ? null : place,
      live: Math.max(1, live.length, holders.length + (place === -1 ? 1 : 0)),
      holdersLive: holders.length === 0 ? 1 : holders.filter(({ id }) => liveIds.has(id)).length,
    };
  };
  const enter = (window: number): void => {
    if (window === current) return;
    current = window;
    holding = new Map();
    seen = new Map(live.map((member) => [member.id, member]));
    compute();
  };

  return {
    see: (members, window) => {
      live = members;
      enter(window);
      for (const member of members) seen.set(member.id, member);
      compute();
    },
    holders: (window) => {
      enter(window);
      return result;
    },
  };
};
