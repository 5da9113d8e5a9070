/** As stored for later requests. */
export type StoredRobots = {
  /** `forbidden`: the server failed, so that nothing may be requested (RFC 9309, 2.3.1.4). */
  readonly verdict: 'rules' | 'forbidden';
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly validUntilMs: number;
  readonly etag: string | null;
  readonly lastModified: string | null;
};

/** A host that refused is not requested until then. Times are milliseconds since 1970. */
export type HostRest = {
  readonly untilMs: number;
  readonly refusals: number;
  readonly reason: string;
};

/**
 * Outlives restarts and is shared, so that two processes are as polite as one. `host` is a name with its port, if it
 * has one.
 */
export type HostMemory = {
  readRobots(host: string): Promise<StoredRobots | null>;
  writeRobots(host: string, robots: StoredRobots): Promise<void>;
  readRest(host: string): Promise<HostRest | null>;
  /** `null` ends a rest and forgets the refusals. */
  writeRest(host: string, rest: HostRest | null): Promise<void>;
  /** Returns the start time, at least `spacingMs` after the one before and not before `nowMs`. */
  reserve(host: string, spacingMs: number, nowMs: number): Promise<number>;
};
