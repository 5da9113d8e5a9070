import { isDeepStrictEqual } from 'node:util';
import type {
  AdAttributed,
  AdObservationCorrected,
  AdStanding,
} from '#contracts/events/corpus/ad-library-corrections.ts';

/** Entries for events that correct earlier ones: never news in an ad's history. */

const FIELDS = {
  status: 'status',
  page_id: 'page_id',
  format: 'format',
  countries: 'countries',
  started_on: 'started_on',
  stopped_on: 'stopped_on',
  first_seen_at: 'first_seen_at',
  seen_at: 'last_seen_at',
  missing_since: 'missing_since',
  inactive_since: 'inactive_since',
  basis: 'basis',
  novelty: 'novelty',
} as const satisfies Partial<Record<keyof AdStanding, string>>;

/** `changes` is `null` if the late scan is the first that shows the ad; other looks are withdrawn or added. */
export const correctionDetail = ({ before, after, withdrawn, added }: AdObservationCorrected['data']) => ({
  changes:
    before &&
    Object.fromEntries(
      (Object.keys(FIELDS) as (keyof typeof FIELDS)[])
        .filter((field) => !isDeepStrictEqual(before[field], after[field]))
        .map((field) => [FIELDS[field], { from: before[field], to: after[field] }]),
    ),
  withdrawn,
  added,
});

export const attributionDetail = ({ from_brand_id, to_brand_id }: AdAttributed['data']) => ({
  from_brand_id,
  to_brand_id,
});
