/** Stored copy of a robots.txt. */
export type StoredRobots = {
  /** `forbidden`: the server failed, so that nothing may be requested (RFC 9309, 2.3.1.4). */
  readonly verdict: 'rules' | 'forbidden';
  readonly text: string;
  /** Time until which it applies, in milliseconds since 1970. */
  readonly validUntilMs: number;
  readonly etag: string | null;
  readonly lastModified: string | null;
};

/** A time until which a host is not requested, because it refused. Times are milliseconds since 1970. */
export type HostRest = {
  readonly untilMs: number;
  /** Refusals in a row. */
  readonly refusals: number;
  readonly reason: string;
};

/**
 * Port to what the client remembers of hosts. It outlives restarts, and all processes share it, so that two of them are
 * as polite as one. `host` is a name with its port, if it has one.
 */
export type HostMemory = {
  readRobots(host: string): Promise<StoredRobots | null>;
  writeRobots(host: string, robots: StoredRobots): Promise<void>;
  readRest(host: string): Promise<HostRest | null>;
  /** `null` ends a rest and forgets the refusals. */
  writeRest(host: string, rest: HostRest | null): Promise<void>;
  /**
   * Reserves the next start of a request to the host. Returns its time, at least `spacingMs` after the one before, and
   * not before `nowMs`.
   */
  reserve(host: string, spacingMs: number, nowMs: number): Promise<number>;
};
