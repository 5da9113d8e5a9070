/** The queue carries work and is never the source of truth: lost messages can be submitted or derived again. */

/** Subject `observations.<key>` keeps the order of a key; characters that a subject cannot hold become `_`. */
export const OBSERVATIONS_STREAM = 'OBSERVATIONS';
export const OBSERVATIONS_SUBJECTS = 'observations.>';
export const observationSubject = (key: string): string => `observations.${key.replaceAll(/[^\w-]/g, '_')}`;
export const INGEST_CONSUMER = 'ingest';

/**
 * Bodies of large observations (claim check); a header of the message in `OBSERVATIONS` names the sequence number. A
 * stream stores messages one by one, so small ones would wait for large ones.
 */
export const OBSERVATION_BODIES_STREAM = 'OBSERVATION_BODIES';
export const OBSERVATION_BODIES_SUBJECTS = 'observation_bodies.>';
/** Above this, ingest uses few slots and never parses an observation to find its order. */
export const LARGE_OBSERVATION_BYTES = 64 * 1024;
export const observationBodySubject = (subject: string): string =>
  subject.replace(/^observations\./, 'observation_bodies.');

/** Rejected observations (dead letters). The header `reason` holds the reason. */
export const DEAD_LETTERS_STREAM = 'DEAD_LETTERS';
export const DEAD_LETTERS_SUBJECTS = 'dead_letters.>';
export const OBSERVATION_DEAD_LETTER = 'dead_letters.observations';

/** Scan requests to collectors, one message per brand. */
export const SCRAPES_STREAM = 'SCRAPES';
export const SCRAPES_SUBJECTS = 'scrape.>';
export const SCRAPE_REQUESTED = 'scrape.requested';

export type ScrapeRequested = {
  readonly brand_id: string;
  readonly cadence: 'daily' | 'weekly';
  readonly requested_at: string;
  /** Absent: a collector finds it by the id. */
  readonly brand_domain?: string;
  /** Social pages to scan. Absent: those linked to the brand. */
  readonly pages?: readonly string[];
  /** Why the scan is wanted. */
  readonly reason?: 'tracked' | 'due' | 'operator';
};

/** Wish that one source be read, such as `scrape.wanted.storefront`. */
export const scrapeWanted = (source: string): string => `scrape.wanted.${source}`;
/** All processes that read the source share this consumer. */
export const collectorConsumer = (source: string): string => `collector-${source}`;

/**
 * Notice that deliveries of these endpoints are due. Core NATS, not JetStream: deliveries are in Postgres, and workers
 * find those of a lost notice within a second. Each notice goes to one process of the group.
 */
export const DELIVERIES_DUE = 'deliveries.due';
export const DELIVERY_GROUP = 'delivery';
export type DeliveriesDue = { readonly endpoints: readonly string[] };
