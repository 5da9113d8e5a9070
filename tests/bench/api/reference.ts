import { fastify } from 'fastify';
import { Pool } from 'pg';
import { z } from 'zod';
import { Port, readSettings } from '#platform/settings.ts';

/**
 * The ceiling for the API bench: a bare Fastify over an ordinary `pg` pool. Each route runs one named statement and
 * returns the columns as `pg` reads them, serialised by Fastify. It has no keys, rate limits, response validators
 * or freshness.
 */
const { DATABASE_URL, PORT } = readSettings(z.object({ DATABASE_URL: z.string(), PORT: Port }));
const pool = new Pool({ connectionString: DATABASE_URL });
const app = fastify();

const COLUMNS = `brand_id as id, slug, name, domain, logo_url, country, category_path, active_ads, total_ads,
  new_ads_7d, indexable, as_of`;

const ONE = `select ${COLUMNS}, description, l.days as lifespan_days, l.ads as lifespan_ads,
  last_ad_seen_on as last_ad_seen_at, video, image, carousel, dco, other
  from brands.brand left join brands.lifespan_sum l using (brand_id) where slug = $1`;

app.get<{ Params: { slug: string } }>('/brands/:slug', async ({ params }) => {
  const { rows } = await pool.query({ name: 'one', text: ONE, values: [params.slug] });
  return { data: rows[0] };
});

const PAGE = `select ${COLUMNS} from brands.brand where is_public order by active_ads desc, brand_id desc limit $1`;

app.get('/brands', async () => {
  const { rows } = await pool.query({ name: 'page', text: PAGE, values: [20] });
  return { data: rows };
});

app.get('/select-1', async () => {
  const { rows } = await pool.query({ name: 'select-1', text: 'select 1 as one' });
  return { data: rows };
});

await app.listen({ host: '127.0.0.1', port: PORT });
console.log('listening');
