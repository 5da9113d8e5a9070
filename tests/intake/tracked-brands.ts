import { randomUUID } from 'node:crypto';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { brands } from '#projections/brands/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { tracking } from '#projections/tracking/project.ts';
import { createTables } from '#application/read-models/schema.ts';

export const createBrandTables = (database: Database): Promise<void> =>
  inTransaction(database, async (client) => {
    await createTables(client, brands, 'brands');
    await createTables(client, socialPages, 'social_pages');
    await createTables(client, tracking, 'tracking');
  });

export const forgetBrands = async (database: Database): Promise<void> => {
  await database.query(
    `truncate brands.brand, social_pages.link, social_pages.page, tracking.tracked_brand, intake.task, intake.lease`,
  );
};

export const trackBrand = async (
  database: Database,
  domain: string,
  {
    cadence = 'daily',
    pages = [],
  }: { readonly cadence?: 'daily' | 'weekly'; readonly pages?: readonly string[] } = {},
): Promise<void> => {
  const id = randomUUID();
  await database.query('insert into brands.brand (brand_id, domain) values ($1, $2)', [id, domain]);
  await database.query(
    'insert into tracking.tracked_brand (workspace_id, brand_id, cadence) values ($1, $2, $3)',
    ['ws_tests', id, cadence],
  );
  await database.query(
    'insert into social_pages.link (social_page_id, brand_id) select unnest($2::text[]), $1',
    [id, pages],
  );
};
