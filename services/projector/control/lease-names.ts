import { type LeaseName, WHOLE } from '#platform/postgres/lease/leases.ts';

/** One lease for all projections of a part of the log; its progress row is their shared position. */
export const PROJECTIONS: LeaseName = { kind: 'projections', part: WHOLE };

export const apartLease = (projection: string): LeaseName => ({ kind: 'projection', part: projection });

export const buildLease = (projection: string): LeaseName => ({ kind: 'build', part: projection });

export const verifyLease = (projection: string): LeaseName => ({ kind: 'verify', part: projection });

export const LOG_COUNTER: LeaseName = { kind: 'log-counter', part: WHOLE };
