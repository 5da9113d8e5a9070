import { availableParallelism } from 'node:os';
import { Refusal } from '#contracts/errors.ts';
import { createPlaces } from '#platform/concurrency/queues.ts';
import { HEAVY_CLIENTS } from '#platform/postgres/read-database.ts';

/** Each heavy read has a connection. */
export const HEAVY_MAX = HEAVY_CLIENTS;
/** A machine of two processors gets 1, because it often shares them with the database. */
export const HEAVY_PER_WORKSPACE_MAX = Math.min(2, Math.max(1, availableParallelism() - 1));
export const WAITING_PER_WORKSPACE_MAX = 8;
export const HEAVY_WAIT_MS = 2_000;
const WAITING_MAX = 64;
const RETRY_AFTER_SECONDS = 1;

/** Reads of past moments run one at a time. */
const PAST_WAIT_MS = 4_000;

const refusal = (what: string, waitMs: number): Refusal =>
  new Refusal(
    'overloaded',
    `Too many ${what} at once. In a workspace, at most ${HEAVY_PER_WORKSPACE_MAX} run and ${WAITING_PER_WORKSPACE_MAX} wait for up to ${waitMs / 1_000} s. Send the next one when one has ended, or narrow it to a brand.`,
    [],
    RETRY_AFTER_SECONDS,
  );

/** Throws `Refusal` when too many heavy reads run and wait. */
export type HeavyReads = <T>(workspaceId: string, read: () => Promise<T>) => Promise<T>;

export const createHeavyReads = (max = HEAVY_MAX, what = 'searches', waitMs = HEAVY_WAIT_MS): HeavyReads =>
  createPlaces({
    max,
    perKey: HEAVY_PER_WORKSPACE_MAX,
    waiting: { max: WAITING_MAX, perKey: WAITING_PER_WORKSPACE_MAX, timeoutMs: () => waitMs },
    refuse: () => refusal(what, waitMs),
  }).run;

export const createPastPlaces = (): HeavyReads => createHeavyReads(1, 'reads of past moments', PAST_WAIT_MS);
