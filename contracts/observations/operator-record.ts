import { z } from 'zod';
import { Country, LibraryId, ObservedDomain, Timestamp } from '../values/primitives.ts';
import { cutKeyText } from '../values/text.ts';

/** Later entries of a longer list are left out. */
export const OPERATOR_DOMAINS_MAX = 1_000;
export const OPERATOR_PAGES_MAX = 1_000;

export const OperatorBasis = z.enum([
  'company_register',
  'site_imprint',
  'page_transparency',
  'trademark_register',
  'filing',
]);
export type OperatorBasis = z.infer<typeof OperatorBasis>;

/** A later record with the same basis replaces the list. An observed association, nothing more. */
export const OperatorRecord = z.strictObject({
  type: z.literal('operator.record'),
  observed_at: Timestamp,
  /** As the source writes it. Case does not distinguish companies. */
  name: cutKeyText(200),
  country: Country.nullable(),
  basis: OperatorBasis,
  domains: z.array(ObservedDomain).overwrite((domains) => domains.slice(0, OPERATOR_DOMAINS_MAX)),
  page_ids: z.array(LibraryId).overwrite((ids) => ids.slice(0, OPERATOR_PAGES_MAX)),
});
export type OperatorRecord = z.infer<typeof OperatorRecord>;
