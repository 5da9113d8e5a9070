import { z } from 'zod';
import { Country, LibraryId, ObservedDomain, Timestamp } from '../values/primitives.ts';
import { cutKeyText } from '../values/text.ts';

/** Maximum domains, and maximum pages, of one record. The later ones of a longer list are left out. */
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
  name: cutKeyText(200),
  country: Country.nullable(),
  basis: OperatorBasis,
  domains: z.array(ObservedDomain).overwrite((domains) => domains.slice(0, OPERATOR_DOMAINS_MAX)),
  page_ids: z.array(LibraryId).overwrite((ids) => ids.slice(0, OPERATOR_PAGES_MAX)),
});
export type OperatorRecord = z.infer<typeof OperatorRecord>;
