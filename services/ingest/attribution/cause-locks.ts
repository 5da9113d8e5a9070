import { domainsOf } from '#domain/corpus/ad-library/attribution/brand-at.ts';
import type { Database } from '#platform/postgres/pool.ts';
import type { BrandLocks } from '../intake/brand-locks.ts';
import { domainsOfCause, type LateCause } from './late-cause.ts';

/** Maximum times that the locks are taken, when the ads lead to more domains each time. */
const TAKEN_MAX = 5;

/**
 * Runs the work of an observation that decides the brands of ads. Meanwhile no scan with such ads is decided, and no other
 * observation that decides about one of them: a link of their page, or the registration of a domain to which they lead or led.
 * For a link, no scan of its brand is decided either, because the link decides the brand's reliable days (rule 9).
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
  // Most observations concern no ad yet, so the domains are read with the locks, which are taken again with more of them.
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
