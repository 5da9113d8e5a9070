import { fastify } from 'fastify';
import { Pool } from 'pg';
import { z } from 'zod';
import { Port, readSettings } from '#platform/settings.ts';

/**
 * The ceiling for workspace lists: a bare Fastify over an ordinary `pg` pool. Each route runs one named statement
 * with the joins it needs and returns the columns as JSON. It has no keys, rate limits or cursors.
 */
const { DATABASE_URL, PORT } = readSettings(z.object({ DATABASE_URL: z.string(), PORT: Port }));
const PAGE_SIZE = 20;
const pool = new Pool({ connectionString: DATABASE_URL });
const app = fastify();

const API_KEYS = `
  select k.key_id, k.workspace_id, k.issued::json as issued, k.issued_at as created_at, k.revoked_at,
    k.member_id, m.name as member_name, u.last_used_at
  from api_keys.api_key k
  left join workspaces.member m using (workspace_id, member_id)
  left join access.key_use u using (workspace_id, key_id)
  where k.workspace_id = $1 order by k.issued_at desc, k.key_id desc limit $2`;

app.get<{ Params: { ws: string } }>('/api-keys/:ws', async ({ params }) => {
  const { rows } = await pool.query({ name: 'api-keys', text: API_KEYS, values: [params.ws, PAGE_SIZE] });
  return { data: rows };
});

const TRACKED = `
  select k.cadence, k.tracked_at as created_at, b.brand_id as id, b.slug, b.name, b.domain, b.logo_url, b.country,
    b.category_path, b.active_ads, b.total_ads, b.new_ads_7d, b.indexable, b.as_of::text as as_of,
    f.scanned_at::text as scanned_at, f.reliable_at::text as last_reliable_at, t.tier as freshness_tier
  from tracking.tracked_brand k
  join brands.brand b using (brand_id)
  left join freshness.brand f using (brand_id)
  left join lateral (select min(cadence) as tier from freshness.tracker r where r.brand_id = k.brand_id) t on true
  where k.workspace_id = $1 order by k.tracked_at desc, k.brand_id desc limit $2`;

app.get<{ Params: { ws: string } }>('/tracked-brands/:ws', async ({ params }) => {
  const { rows } = await pool.query({ name: 'tracked', text: TRACKED, values: [params.ws, PAGE_SIZE] });
  return { data: rows };
});

await app.listen({ host: '127.0.0.1', port: PORT });
console.log('listening');
