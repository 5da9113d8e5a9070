import { type LeaseName, WHOLE } from '#platform/postgres/lease/prove-lease.ts';

/** Kinds of leases of the projector. */

/** The lease on all projections of a part. Its progress row is their position. */
export const PROJECTIONS: LeaseName = { kind: 'projections', part: WHOLE };

/** The lease on one projection that the owner of the part cannot follow. */
export const apartLease = (projection: string): LeaseName => ({ kind: 'projection', part: projection });

/** The lease on the rebuild of a projection. */
export const buildLease = (projection: string): LeaseName => ({ kind: 'build', part: projection });

/** The lease on the verification of a projection. */
export const verifyLease = (projection: string): LeaseName => ({ kind: 'verify', part: projection });

/** The lease on counting the events of the log and sampling the lag. */
export const LOG_COUNTER: LeaseName = { kind: 'log-counter', part: WHOLE };
