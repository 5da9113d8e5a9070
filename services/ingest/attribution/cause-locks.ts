import { domainsOf } from '#domain/corpus/ad-library/attribution/brand-at.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { BrandLocks } from '../intake/brand-locks.ts';
import { domainsOfCause, type LateCause } from './late-cause.ts';

/** The ads may lead to more domains each time. */
const TAKEN_MAX = 5;

/**
 * Keeps out scans with these ads, other observations about them, and, for a link, scans of its brand, whose reliable
 * days it decides (rule 9).
 */
export const runWithCauseLocks = async <T>(
  database: Database,
  locks: BrandLocks,
  cause: LateCause,
  work: () => Promise<T>,
): Promise<T> => {
  const { about, brandId } = cause;
  const domain = 'pageId' in about ? about.registers : about.domain;
  const alone = [...('pageId' in about ? [about.pageId] : []), ...(domain === null ? [] : [domain])];
  const above = domain === null ? [] : domainsOf(`https://${domain}/`);
  // Most observations concern no ad yet, so domains are read under the locks, and more ads mean taking them again.
  let shared: ReadonlySet<string> = new Set(above);
  for (let taken = 1; ; taken += 1) {
    const held = shared;
    const done = await locks.runOnPlaces({ alone, shared: [...held] }, async () => {
      const domains = new Set(await domainsOfCause(database, cause));
      if (taken < TAKEN_MAX && !domains.isSubsetOf(held)) {
        shared = held.union(domains);
        return null;
      }
      return { result: await ('pageId' in about ? locks.run(brandId, work) : work()) };
    });
    if (done !== null) return done.result;
  }
};
