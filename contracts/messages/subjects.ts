/**
 * NATS subjects and JetStream streams. The queue carries work, never truth: whatever it loses is handed
 * in, or derived from the log, again.
 */

/** Observations: `observations.<key>` keeps those about one thing in one subject; a subject's words hold few signs. */
export const OBSERVATIONS_STREAM = 'OBSERVATIONS';
export const OBSERVATIONS_SUBJECTS = 'observations.>';
export const observationSubject = (key: string): string => `observations.${key.replaceAll(/[^\w-]/g, '_')}`;
export const INGEST_CONSUMER = 'ingest';

/** Observations that were refused, with the reason in the header `reason`. */
export const DEAD_LETTERS_STREAM = 'DEAD_LETTERS';
export const DEAD_LETTERS_SUBJECTS = 'dead_letters.>';
export const OBSERVATION_DEAD_LETTER = 'dead_letters.observations';

/** Hand-off to collectors: a brand that wants a scan. */
export const SCRAPES_STREAM = 'SCRAPES';
export const SCRAPES_SUBJECTS = 'scrape.>';
export const SCRAPE_REQUESTED = 'scrape.requested';

/** Payload of `scrape.requested`. */
export type ScrapeRequested = {
  readonly brand_id: string;
  readonly cadence: 'daily' | 'weekly';
  readonly requested_at: string;
};

/**
 * Deliveries that wait for an attempt. A message carries ids only: payload and state are in Postgres, and both
 * come from the log. What became due together travels together, since a work queue wants every message acknowledged.
 */
export const DELIVERIES_STREAM = 'DELIVERIES';
export const DELIVERIES_SUBJECTS = 'deliveries.>';
export const DELIVERIES_DUE = 'deliveries.due';
export const DELIVERY_CONSUMER = 'delivery';

/** Ids that one message carries at most. */
export const DUE_IDS_MAX = 50;
/** Payload of `deliveries.due`. */
export type DeliveriesDue = { readonly delivery_ids: readonly string[] };
