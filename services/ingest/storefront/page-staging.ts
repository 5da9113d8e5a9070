import { hash } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import type { StorefrontScanPage } from '#contracts/observations/storefront-scan.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Idempotent. Throws `Refusal` for a known page number with other content (rule 8 of services/domain/README.md). */
export const stageStorefrontPage = async (
  database: Database,
  { scan_id, domain, page, products }: StorefrontScanPage,
): Promise<void> => {
  const text = JSON.stringify(products);
  const digest = hash('sha256', text, 'hex');
  const { rows } = await database.query<{ digest: string; domain: string }>({
    name: 'ingest_stage_storefront_page',
    text: `
      with first as (
        insert into ingest.staged_storefront_digest as d (scan_id, page, domain, digest) values ($1, $2, $3, $4)
        on conflict (scan_id, page) do update set digest = d.digest returning domain, digest
      ), staged as (
        insert into ingest.staged_storefront_page (scan_id, page, products, product_count)
        select $1, $2, $5, $6 from first
        where first.digest = $4 and first.domain = $3
          and not exists (select from ingest.recorded_storefront_scan where scan_id = $1)
        on conflict do nothing
      )
      select domain, digest from first`,
    values: [scan_id, page, domain, digest, text, products.length],
  });
  const first = rows[0];
  if (first?.digest === digest && first.domain === domain) return;
  throw new Refusal(
    'invalid_input',
    `Page ${page} of the scan ${scan_id} was submitted before with other content. Use a new \`scan_id\` for each scan.`,
  );
};

export type StagedPages = {
  readonly numbers: readonly number[];
  /** A product on two pages counts twice. */
  readonly products: number;
  /** A page was submitted for another shop than the scan's end. */
  readonly ofAnotherShop: boolean;
};

export const stagedPages = async (
  database: Database,
  scanId: string,
  domain: string,
): Promise<StagedPages> => {
  const { rows } = await database.query<{ page: number; products: number; another: boolean }>(
    `select s.page, s.product_count as products,
       coalesce(d.domain <> $2, false) as another
     from ingest.staged_storefront_page s left join ingest.staged_storefront_digest d using (scan_id, page)
     where s.scan_id = $1 order by s.page`,
    [scanId, domain],
  );
  return {
    numbers: rows.map(({ page }) => page),
    products: rows.reduce((sum, { products }) => sum + products, 0),
    ofAnotherShop: rows.some(({ another }) => another),
  };
};

export const stagedPageText = async (
  database: Database,
  scanId: string,
  page: number,
): Promise<string | null> => {
  const { rows } = await database.query<{ products: string }>({
    name: 'ingest_staged_storefront_page',
    text: 'select products from ingest.staged_storefront_page where scan_id = $1 and page = $2',
    values: [scanId, page],
  });
  return rows[0]?.products ?? null;
};

/** Keeps their digests, which refuse a later page with other content. */
export const deleteStagedPages = async (database: Database, scanId: string): Promise<void> => {
  await database.query('delete from ingest.staged_storefront_page where scan_id = $1', [scanId]);
};
