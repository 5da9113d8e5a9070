import { z } from 'zod';
import { OperatorBasis } from '#contracts/observations/operator-record.ts';
import { Count, Country, Domain, LibraryId, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { BrandReference } from './brand.ts';

/** Entries of each kind; the counts of the record include all. */
export const OPERATOR_ENTRIES_MAX = 200;
export const OPERATOR_OTHER_BRANDS_MAX = 50;

const bases = z.array(OperatorBasis).min(1).meta({ description: 'Sources of the association.' });

const summaryShape = {
  id: Uuid,
  name: z.string(),
  country: Country.nullable(),
  domains: Count,
  pages: Count,
  observed_at: Timestamp.meta({ description: 'When something new about it was last observed.' }),
  url: z.url().meta({ description: 'The operator in this service.' }),
} as const;

export const OperatorSummary = z
  .strictObject({ ...summaryShape, public_brands: Count })
  .meta({ id: 'OperatorSummary', description: 'A company observed with several domains or pages.' });

export const OperatorOfBrand = z
  .strictObject({
    ...summaryShape,
    bases,
    other_brands: z.array(BrandReference).meta({
      description: `The operator's other public brands by name, at most ${OPERATOR_OTHER_BRANDS_MAX}.`,
    }),
  })
  .meta({ id: 'OperatorOfBrand', description: "An operator observed with the brand's domain." });

export const Operator = z
  .strictObject({
    ...summaryShape,
    public_brands: Count,
    brands: z.array(BrandReference).meta({
      description: `The public brands whose domain was observed with it, by name, at most ${OPERATOR_ENTRIES_MAX}.`,
    }),
    domain_associations: z
      .array(z.strictObject({ domain: Domain, bases }))
      .meta({ description: `By domain, at most ${OPERATOR_ENTRIES_MAX}.` }),
    page_associations: z
      .array(z.strictObject({ page_id: LibraryId, bases }))
      .meta({ description: `By id, at most ${OPERATOR_ENTRIES_MAX}.` }),
  })
  .meta({
    id: 'Operator',
    description: 'A company with the brands, domains and pages it was observed with.',
  });
