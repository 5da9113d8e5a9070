/**
 * NATS subjects and JetStream streams. The queue carries work and is never the source of truth. Lost messages can
 * be submitted again or derived from the log again.
 */

/**
 * Stream of observations. The subject `observations.<key>` keeps observations with the same key in order.
 * Characters that are not allowed in a subject are replaced by `_`. `observation-headers.ts` has its headers.
 */
export const OBSERVATIONS_STREAM = 'OBSERVATIONS';
export const OBSERVATIONS_SUBJECTS = 'observations.>';
export const observationSubject = (key: string): string => `observations.${key.replaceAll(/[^\w-]/g, '_')}`;
export const INGEST_CONSUMER = 'ingest';

/**
 * Stream of bodies of large observations (claim check). The message in `OBSERVATIONS` then has no body, and names the
 * sequence number of its body in a header. Messages of one stream are stored one after another, so small ones would wait
 * for the writing of large ones.
 */
export const OBSERVATION_BODIES_STREAM = 'OBSERVATION_BODIES';
export const OBSERVATION_BODIES_SUBJECTS = 'observation_bodies.>';
/** Bytes above which an observation is large: ingest processes it in few slots, and never parses it to find its order. */
export const LARGE_OBSERVATION_BYTES = 64 * 1024;
/** Returns the subject of the body of an observation from the subject of the observation. */
export const observationBodySubject = (subject: string): string =>
  subject.replace(/^observations\./, 'observation_bodies.');

/** Stream of rejected observations (dead letters). The header `reason` holds the reason. */
export const DEAD_LETTERS_STREAM = 'DEAD_LETTERS';
export const DEAD_LETTERS_SUBJECTS = 'dead_letters.>';
export const OBSERVATION_DEAD_LETTER = 'dead_letters.observations';

/** Stream of scan requests to collectors, one message per brand. */
export const SCRAPES_STREAM = 'SCRAPES';
export const SCRAPES_SUBJECTS = 'scrape.>';
export const SCRAPE_REQUESTED = 'scrape.requested';

/** Payload of `scrape.requested`. */
export type ScrapeRequested = {
  readonly brand_id: string;
  readonly cadence: 'daily' | 'weekly';
  readonly requested_at: string;
  /** Domain of the brand. Absent: a collector finds it by the id. */
  readonly brand_domain?: string;
  /** Ids of the social pages to scan. Absent: those that are linked to the brand. */
  readonly pages?: readonly string[];
  /** Why the scan is wanted. */
  readonly reason?: 'tracked' | 'due' | 'operator';
};

/** Subject of a wish that one source be read, such as `scrape.wanted.storefront`. */
export const scrapeWanted = (source: string): string => `scrape.wanted.${source}`;
/** Payload of `scrape.wanted.<source>`. */
export type ScrapeWanted = {
  readonly brand_domain: string;
  readonly cadence: 'daily' | 'weekly';
  readonly requested_at: string;
  readonly reason?: ScrapeRequested['reason'];
};
/** Consumer of the wishes for one source. All processes that read the source share it. */
export const collectorConsumer = (source: string): string => `${COLLECTOR_CONSUMER}-${source}`;
/** Consumer of the wishes for all sources in earlier releases, and the beginning of the names above. */
export const COLLECTOR_CONSUMER = 'collector';

/**
 * Stream of deliveries that are due. A message carries ids only: payload and state are in Postgres, and both can be
 * derived from the log. Ids that became due together share a message, because each message of a work queue must be
 * acknowledged separately.
 */
export const DELIVERIES_STREAM = 'DELIVERIES';
export const DELIVERIES_SUBJECTS = 'deliveries.>';
export const DELIVERIES_DUE = 'deliveries.due';
export const DELIVERY_CONSUMER = 'delivery';

/** Maximum ids per message. */
export const DUE_IDS_MAX = 50;
/** Payload of `deliveries.due`. */
export type DeliveriesDue = { readonly delivery_ids: readonly string[] };
