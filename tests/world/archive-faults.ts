import { MINUTE_MS } from '#contracts/values/time.ts';
import type { ArchiveFaults, ArchiveWorld } from './archive-world.ts';

export type ArchiveFaultsInput = {
  /** Faults of the next answers; `null`: a good one. */
  readonly next?: ArchiveFaults['next'];
  readonly forgotten?: readonly string[];
  /** Minutes after the first call for a forgotten page until it is found again; without end when absent. */
  readonly forgotten_minutes?: number;
  readonly refused?: readonly string[];
  readonly ads_max?: number | null;
  readonly loops?: boolean;
  readonly zero_page_ids?: boolean;
};

export const addArchiveFaults = ({ faults }: ArchiveWorld, input: ArchiveFaultsInput): void => {
  const {
    next = [],
    forgotten = [],
    forgotten_minutes: minutes,
    refused = [],
    ads_max,
    loops,
    zero_page_ids,
  } = input;
  faults.next.push(...next);
  for (const pageId of forgotten) faults.forgotten.add(pageId);
  if (minutes !== undefined) faults.forgottenForMs = minutes * MINUTE_MS;
  for (const pageId of refused) faults.refused.add(pageId);
  if (ads_max !== undefined) faults.adsMax = ads_max;
  if (loops !== undefined) faults.loops = loops;
  if (zero_page_ids !== undefined) faults.zeroPageIds = zero_page_ids;
};

export const clearArchiveFaults = ({ faults }: ArchiveWorld): void => {
  faults.next = [];
  faults.forgotten.clear();
  faults.forgottenSinceMs.clear();
  faults.refused.clear();
  const forgottenForMs = Number.POSITIVE_INFINITY;
  Object.assign(faults, { adsMax: null, loops: false, zeroPageIds: false, forgottenForMs });
};
