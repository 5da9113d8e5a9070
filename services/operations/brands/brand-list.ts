import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Contract, type Endpoint, endpoint } from '#operations/endpoint/define-endpoint.ts';
import { BRAND_ID } from '#operations/endpoint/examples.ts';
import { brandParams, noQuery } from '#operations/endpoint/parameters.ts';
import type { ItemsAsOf } from '#projections/shared-tables/applied-scan.ts';
import { listReply } from '#operations/endpoint/reply.ts';
import { withBrand } from './find-brand-or-404.ts';

export const brandList = ({
  reply,
  list,
  ...contract
}: Pick<Contract, 'path' | 'operationId' | 'scope' | 'summary' | 'description' | 'reads'> & {
  readonly reply: Pick<Contract['reply'], 'data' | 'example'>;
  /** Returns JSON texts, and the time at which they hold. */
  readonly list: (db: ReadDatabase, brandId: string) => Promise<ItemsAsOf>;
}): Endpoint =>
  endpoint({
    ...contract,
    method: 'GET',
    tag: 'Brands',
    params: brandParams,
    query: noQuery,
    body: null,
    paramsExample: { brandId: BRAND_ID },
    reply: { ...reply, status: 200, shape: 'whole' },
    errors: ['not_found'],
    corpus: true,
    handler: async ({ params }, { db }) => {
      const { brand, found } = await withBrand(db, params.brandId, (id) => list(db, id));
      return listReply(found.items, found.asOf ?? brand.profiled_at);
    },
  });
