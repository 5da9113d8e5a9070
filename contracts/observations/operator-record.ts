import { z } from 'zod';
import { Country, LibraryId, ObservedDomain, Timestamp } from '../values/primitives.ts';
import { trimmedText } from '../values/text.ts';

export const OPERATOR_DOMAINS_MAX = 1_000;
export const OPERATOR_PAGES_MAX = 1_000;

/** What an association of a company with a domain or a page was read from. */
export const OperatorBasis = z.enum([
  'company_register',
  'site_imprint',
  'page_transparency',
  'trademark_register',
  'filing',
]);
export type OperatorBasis = z.infer<typeof OperatorBasis>;

/**
 * The domains and pages that one source names for a company: all of them on this basis, so that one which a later
 * record of the same basis leaves out is named no longer. An association as observed; what else there is between
 * them is not said.
 */
export const OperatorRecord = z.strictObject({
  type: z.literal('operator.record'),
  observed_at: Timestamp,
  /** The company's name as the source writes it; small and capital letters name the same company. */
  name: trimmedText(200),
  country: Country.nullable(),
  basis: OperatorBasis,
  domains: z.array(ObservedDomain).max(OPERATOR_DOMAINS_MAX),
  page_ids: z.array(LibraryId).max(OPERATOR_PAGES_MAX),
});
export type OperatorRecord = z.infer<typeof OperatorRecord>;
