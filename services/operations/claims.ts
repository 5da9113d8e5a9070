import { omit } from 'es-toolkit/object/omit';
import type { z } from 'zod';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import {
  CheckedClaim,
  type ClaimComparison,
  ClaimToCheck,
  type FigureBounds,
} from '#contracts/resources/corpus/coverage.ts';
import { joinObjects } from '#contracts/values/json-text.ts';
import { destinationDomains } from '#contracts/values/links/ad-destination.ts';
import { domainOfOldSlug } from '#domain/corpus/brand-slug.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type BrandRef, findBrand, readBrandSummaries } from '#projections/brands/read.ts';
import { READ_MODELS_OF_BOUNDS } from '#projections/queries/coverage.ts';
import { boundsExample, checkWindow, readBounds, requireFigure } from './brands/bounds.ts';
import { BRAND_UNKNOWN, type ExistingBrand } from './brands/find-brand.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { BASE_URL, BRAND_ID, brandReference } from './endpoint/examples.ts';
import { brandRefOf, noParams, noQuery } from './endpoint/parameters.ts';

/** Numbers of a range, both ends included. */
type Range = { readonly from: number; readonly to: number };

const CLAIMED: Readonly<Record<ClaimComparison, (value: number) => Range>> = {
  at_least: (value) => ({ from: value, to: Infinity }),
  at_most: (value) => ({ from: 0, to: value }),
  equals: (value) => ({ from: value, to: value }),
  more_than: (value) => ({ from: value + 1, to: Infinity }),
  less_than: (value) => ({ from: 0, to: value - 1 }),
};

type Verdict = z.infer<typeof CheckedClaim>['verdict'];

const judge = (claimed: Range, observed: Range): Verdict => {
  if (claimed.from <= observed.from && observed.to <= claimed.to) return 'supported';
  return observed.to < claimed.from || claimed.to < observed.from ? 'contradicted' : 'not_observable';
};

const rangeText = ({ at_least, at_most }: FigureBounds): string => {
  if (at_most === at_least) return `The figure is ${at_least}.`;
  return at_most === null
    ? `The figure is at least ${at_least}, and nothing observed bounds it from above.`
    : `The figure is at least ${at_least} and at most ${at_most}.`;
};

const checkAgainst = (
  bounds: FigureBounds,
  { comparison, value }: z.infer<typeof ClaimToCheck>,
): Pick<z.infer<typeof CheckedClaim>, 'comparison' | 'claimed' | 'verdict' | 'reason'> => {
  const { at_least, at_most, at_least_reason, at_most_reason } = bounds;
  const claimed = CLAIMED[comparison](value);
  const verdict = judge(claimed, { from: at_least, to: at_most ?? Infinity });
  const reason = `${rangeText(bounds)} ${at_least_reason} ${at_most_reason}`;
  return { comparison, claimed: value, verdict, reason };
};

/** The scans that would narrow the bounds stand in the reply about them. */
const withoutScans = (bounds: FigureBounds) =>
  omit(bounds, ['pages', 'countries', 'uncovered_days', 'narrowed_by', 'narrowed_by_total']);

/** By uuid, slug, older slug, or a domain or one below it. Throws `BRAND_UNKNOWN`. */
const findClaimedBrand = async (db: ReadDatabase, text: string): Promise<ExistingBrand> => {
  const domains = text.includes('.') ? destinationDomains(`https://${text}`) : [];
  const ref = brandRefOf(text);
  const older = 'id' in ref || domains.length > 0 ? [] : [{ id: brandIdOf(domainOfOldSlug(ref.slug)) }];
  const refs: readonly BrandRef[] =
    domains.length > 0 ? domains.map((domain) => ({ id: brandIdOf(domain) })) : [ref, ...older];
  for (const one of refs) {
    const found = await findBrand(db, one);
    if (found !== null) return found;
  }
  throw BRAND_UNKNOWN;
};

const proofUrl = (
  baseUrl: string,
  brandId: string,
  { figure, from, to }: FigureBounds,
  now: Date,
): string => {
  const window = from === null || to === null ? {} : { from, to };
  const query = new URLSearchParams({ figure, ...window, as_of: now.toISOString() });
  return `${baseUrl}/v1/brands/${brandId}/proof?${query.toString()}`;
};

const claimExample: z.infer<typeof ClaimToCheck> = {
  brand: BRAND_ID,
  figure: 'active_ads',
  comparison: 'at_least',
  value: 100,
};

export const checkClaim = endpoint({
  method: 'POST',
  path: '/v1/claims/check',
  operationId: 'checkClaim',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Check a claim about a brand',
  description:
    'Tells whether what was observed supports a claim about a figure, contradicts it, or decides neither. Ask before a figure is stated. `supported` means that every number within the bounds of the figure satisfies the claim, `contradicted` that none does; the bounds are those of `GET /v1/brands/{brandId}/bounds`. Reads only: the request changes nothing and records nothing.',
  params: noParams,
  query: noQuery,
  body: { schema: ClaimToCheck.superRefine(checkWindow), example: claimExample },
  paramsExample: {},
  reply: {
    status: 200,
    shape: 'record',
    data: CheckedClaim,
    example: {
      brand: brandReference,
      ...checkAgainst(boundsExample, claimExample),
      ...withoutScans(boundsExample),
      proof_url: `${BASE_URL}/v1/brands/${BRAND_ID}/proof?figure=active_ads&as_of=2026-11-20T12%3A00%3A00.000Z`,
    },
  },
  errors: ['not_found'],
  corpus: false,
  heavy: true,
  reads: READ_MODELS_OF_BOUNDS,
  beyondContract: true,
  handler: async ({ body }, { db, clock, baseUrl }) => {
    const now = clock.now();
    const figure = requireFigure(body, now);
    const brand = await findClaimedBrand(db, body.brand);
    const [{ bounds, lookedAt }, summaries] = await Promise.all([
      readBounds(db, brand.brand_id, figure, now),
      readBrandSummaries(db, [brand.brand_id]),
    ]);
    const checked = {
      ...checkAgainst(bounds, body),
      ...withoutScans(bounds),
      proof_url: proofUrl(baseUrl, brand.brand_id, bounds, now),
    };
    const reference = summaries.get(brand.brand_id)?.reference ?? 'null';
    return {
      data: joinObjects(`{"brand":${reference}}`, JSON.stringify(checked)),
      asOf: lookedAt ?? brand.profiled_at,
      position: null,
    };
  },
});
