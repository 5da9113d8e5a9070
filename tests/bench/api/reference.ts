import { fastify } from 'fastify';
import { Pool } from 'pg';
import { z } from 'zod';
import { Port, readSettings } from '#platform/settings.ts';

/** Ceiling: bare Fastify over an ordinary `pg` pool, without keys, rate limits, cursors, validators or freshness. */
const { DATABASE_URL, PORT } = readSettings(z.object({ DATABASE_URL: z.string(), PORT: Port }));
const PAGE_SIZE = 20;
const pool = new Pool({ connectionString: DATABASE_URL });
const app = fastify();

const BRAND = `b.brand_id as id, b.slug, b.name, b.domain, b.logo_url, b.country, b.category_path, b.active_ads, b.total_ads,
  b.new_ads_7d, b.indexable`;

const ONE = `select ${BRAND}, as_of, description, l.days as lifespan_days, l.ads as lifespan_ads,
  last_ad_seen_on as last_ad_seen_at, video, image, carousel, dco, other
  from brands.brand b left join brands.lifespan_sum l using (brand_id) left join brands.format_count f using (brand_id)
  where slug = $1`;

const PAGE = `select ${BRAND}, as_of from brands.brand b where is_public order by active_ads desc, brand_id desc limit $1`;

const API_KEYS = `
  select k.key_id, k.workspace_id, k.issued::json as issued, k.issued_at as created_at, k.revoked_at,
    k.member_id, m.name as member_name, u.last_used_at
  from api_keys.api_key k
  left join workspaces.member m using (workspace_id, member_id)
  left join access.key_use u using (workspace_id, key_id)
  where k.workspace_id = $1 order by k.issued_at desc, k.key_id desc limit $2`;

const TRACKED = `
  select k.cadence, k.tracked_at as created_at, ${BRAND}, b.as_of::text as as_of,
    f.scanned_at::text as scanned_at, f.reliable_at::text as last_reliable_at, t.tier as freshness_tier
  from tracking.tracked_brand k
  join brands.brand b using (brand_id)
  left join freshness.brand f using (brand_id)
  left join lateral (select min(cadence) as tier from freshness.tracker r where r.brand_id = k.brand_id) t on true
  where k.workspace_id = $1 order by k.tracked_at desc, k.brand_id desc limit $2`;

const list = async (name: string, text: string, values: readonly unknown[]): Promise<{ data: unknown[] }> => {
  const { rows } = await pool.query({ name, text, values: [...values] });
  return { data: rows };
};

app.get<{ Params: { slug: string } }>('/brands/:slug', async ({ params }) => {
  const { rows } = await pool.query({ name: 'one', text: ONE, values: [params.slug] });
  return { data: rows[0] };
});
app.get('/brands', () => list('page', PAGE, [PAGE_SIZE]));
app.get<{ Params: { ws: string } }>('/api-keys/:ws', ({ params }) =>
  list('api-keys', API_KEYS, [params.ws, PAGE_SIZE]),
);
app.get<{ Params: { ws: string } }>('/tracked-brands/:ws', ({ params }) =>
  list('tracked', TRACKED, [params.ws, PAGE_SIZE]),
);
app.get('/select-1', () => list('select-1', 'select 1 as one', []));

await app.listen({ host: '127.0.0.1', port: PORT });
console.log('listening');
