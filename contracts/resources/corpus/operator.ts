import { z } from 'zod';
import { OperatorBasis } from '#contracts/observations/operator-record.ts';
import { Count, Country, Domain, Timestamp, Uuid } from '#contracts/values/primitives.ts';
import { PageId } from './ads/creative.ts';
import { BrandReference } from './brand.ts';

/** Entries of each kind; the counts of the record include all. */
export const OPERATOR_ENTRIES_MAX = 200;
export const OPERATOR_OTHER_BRANDS_MAX = 50;

const OperatorBasisName = OperatorBasis.meta({
  id: 'OperatorBasis',
  description: 'Kind of source that names the operator.',
});
const bases = z.array(OperatorBasisName).min(1).meta({ description: 'Sources of the association.' });

const PublicBrands = Count.meta({ description: 'Public brands whose domain was observed with it.' });

const summaryShape = {
  id: Uuid.meta({ description: 'Stable id of the company; paths take it as `{operatorId}`.' }),
  name: z.string().meta({ description: 'The company as its source writes it.' }),
  country: Country.nullable().meta({
    description: 'Where the company sits, ISO 3166-1 alpha-2; null: no source states it.',
  }),
  domains: Count.meta({ description: 'Domains that it was observed with.' }),
  pages: Count.meta({ description: 'Social pages that it was observed with.' }),
  observed_at: Timestamp.meta({ description: 'When something new about it was last observed.' }),
  url: z.url().meta({ description: 'Address of the operator in this API.' }),
} as const;

export const OperatorSummary = z
  .strictObject({ ...summaryShape, public_brands: PublicBrands })
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
    public_brands: PublicBrands,
    brands: z.array(BrandReference).meta({
      description: `The public brands whose domain was observed with it, by name, at most ${OPERATOR_ENTRIES_MAX}.`,
    }),
    domain_associations: z
      .array(z.strictObject({ domain: Domain.meta({ description: 'Domain of a site.' }), bases }))
      .meta({ description: `Domains that it was observed with, by name, at most ${OPERATOR_ENTRIES_MAX}.` }),
    page_associations: z
      .array(z.strictObject({ page_id: PageId, bases }))
      .meta({ description: `Pages that it was observed with, by id, at most ${OPERATOR_ENTRIES_MAX}.` }),
  })
  .meta({
    id: 'Operator',
    description: 'A company with the brands, domains and pages it was observed with.',
  });
