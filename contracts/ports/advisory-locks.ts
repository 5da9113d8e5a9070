/**
 * Ids of every Postgres advisory lock of the service, in one table so that no two are equal. An id never changes:
 * processes of two releases must take the same lock. `create … if not exists` is not safe against a concurrent one,
 * so each schema is installed under a lock.
 */
export const ADVISORY_LOCKS = {
  /** Working tables of ingest. */
  ingestSchema: 7_201_001,
  /** Schemas of read models and of the projector. */
  readModelSchemas: 7_201_002,
  /** Nightly rewrite of the list of new advertisers. */
  newAdvertisersRewrite: 7_201_003,
  /** Table of the nightly verification. */
  nightlyVerificationSchema: 7_201_004,
  /** Access tables and idempotency keys. */
  accessSchema: 7_205_311,
  /** Vaults of member names and secrets. */
  vaultSchema: 7_205_312,
  /** Delivery outbox. */
  deliverySchema: 7_205_313,
  /** Order of journal entries and commits. `delivery-outbox/schema.sql` takes it too, in shared mode. */
  deliveryJournal: 7_205_314,
  /** Trace contexts of deliveries. */
  traceSchema: 7_205_316,
  /** Checkpoint and matching state of alerts. */
  alertsSchema: 7_205_317,
  /** Tokens, codes and clients of the authorization server. */
  oauthSchema: 7_205_318,
  /** Codes, invitations and browsers of members. */
  signInSchema: 7_205_319,
  /** Snapshots of decider states. */
  snapshotSchema: 7_205_321,
  /** Keys of third-party collectors. */
  intakeSchema: 7_205_331,
  /** Leasing of tasks to third-party collectors, one request after the other. */
  intakeTasks: 7_205_332,
  /** Working tables of the collector. */
  collectingSchema: 7_205_320,
  /** Processes, leases and progress. */
  runSchema: 7_205_333,
  /** Scans that the worker has requested. */
  scanRequestSchema: 7_205_334,
  /** Tables for reads of past moments, in a database apart. */
  scratchTables: 7_205_335,
  /** Keeping of states for these reads: one process at a time. */
  keptStates: 7_205_338,
  /** Tables of the log's digests. */
  logDigestSchema: 7_205_336,
  /** Signing of digests, one after the other. */
  logDigest: 7_205_337,
  /** Working tables of the media archive. */
  mediaSchema: 7_205_322,
} as const;

/** First key of the two-key locks on brands whose scans are recorded. The second is the hash of the brand's id. */
export const BRAND_LOCK_CLASS = 7_202;

/** First key of the two-key locks on social pages and domains; the second follows from the page's id or domain. */
export const PAGE_LOCK_CLASS = 7_203;

/** First key of the two-key locks on members whose sign-ins in browsers are counted. The second is the hash of the account. */
export const BROWSERS_LOCK_CLASS = 7_204;
