import { z } from 'zod';
import { Country, LibraryId, ObservedDomain, Timestamp } from '../values/primitives.ts';
import { trimmedText } from '../values/text.ts';

export const OPERATOR_DOMAINS_MAX = 1_000;
export const OPERATOR_PAGES_MAX = 1_000;

/** Source from which the association of a company with a domain or page was read. */
export const OperatorBasis = z.enum([
  'company_register',
  'site_imprint',
  'page_transparency',
  'trademark_register',
  'filing',
]);
export type OperatorBasis = z.infer<typeof OperatorBasis>;

/**
 * All domains and social pages that one source names for a company on one basis. A later record with the same basis
 * replaces the list: what it leaves out is removed. This is an association as observed and says nothing about other
 * relations.
 */
export const OperatorRecord = z.strictObject({
  type: z.literal('operator.record'),
  observed_at: Timestamp,
  /** Name as the source writes it. Case does not distinguish companies. */
  name: trimmedText(200),
  country: Country.nullable(),
  basis: OperatorBasis,
  domains: z.array(ObservedDomain).max(OPERATOR_DOMAINS_MAX),
  page_ids: z.array(LibraryId).max(OPERATOR_PAGES_MAX),
});
export type OperatorRecord = z.infer<typeof OperatorRecord>;
