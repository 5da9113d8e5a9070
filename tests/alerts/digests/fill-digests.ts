import type { AlertItem } from '#contracts/webhooks/alert-payload.ts';
import { createAlertsTables } from '#services/alerts/checkpoint.ts';
import { type AlertsStack, STORED_RULE } from '../stack.ts';

/** Digests whose items one statement inserts: the server cancels a longer one. */
const FILLED_AT_ONCE = 2_000;

const ALERT_ID = `md5('many digests ' || n)::uuid`;

const rule = { ...STORED_RULE, brand_ids: [] };
const item: AlertItem = {
  id: '6f0c1c4e-3b7a-8f0e-8a58-5d9a2f0d7b11',
  type: 'ad_started',
  observed_at: '2026-05-02T08:00:00.000Z',
  brand: {
    id: '0c6a5ed2-0f0f-8f5c-9a52-0f4a6e5d1a11',
    slug: 'shop',
    name: 'A shop with a name',
    logo_url: 'https://cdn.shop.example/logo-of-the-brand.png',
    url: 'https://api.test/v1/brands/shop',
  },
  title: `New ad: ${'words that an ad begins with, '.repeat(4)}`,
  ad_id: '1000000000000001',
  page_id: '2000000000000002',
  destination_url: `https://shop.example/products/${'a-long-path/'.repeat(8)}`,
  previous_destination_url: null,
  signal: null,
  url: 'https://api.test/v1/radar/6f0c1c4e-3b7a-8f0e-8a58-5d9a2f0d7b11',
};

export type FilledDigests = { readonly digests: number; readonly items: number; readonly day: string };

/** The log clock is in the day of the digests. */
export const fillDigests = async (
  { pool, eventStore }: AlertsStack,
  { digests, items, day }: FilledDigests,
): Promise<void> => {
  await createAlertsTables(pool);
  await pool.query(
    `insert into alerting.checkpoint (position, log_time, replayed_until) values ($1, $2, 0)`,
    [await eventStore.head(), `${day}T00:00:00.000Z`],
  );
  await pool.query(
    `insert into alerting.rule (alert_id, rule)
     select ${ALERT_ID}, $2::jsonb || jsonb_build_object('alert_id', ${ALERT_ID}) from generate_series(1, $1::int) n`,
    [digests, JSON.stringify(rule)],
  );
  await pool.query(
    `insert into alerting.collected (alert_id, cadence, key, items_total, as_of)
     select ${ALERT_ID}, 'daily', $2, $3, $4 from generate_series(1, $1::int) n`,
    [digests, day, items, item.observed_at],
  );
  for (let from = 1; from <= digests; from += FILLED_AT_ONCE) {
    await pool.query(
      `insert into alerting.collected_item (alert_id, cadence, key, place, item)
       select ${ALERT_ID}, 'daily', $3, place, $5::jsonb
       from generate_series($1::int, $2::int) n, generate_series(0, $4::int - 1) place`,
      [from, Math.min(digests, from + FILLED_AT_ONCE - 1), day, items, JSON.stringify(item)],
    );
  }
  for (const table of ['rule', 'collected', 'collected_item']) await pool.query(`analyze alerting.${table}`);
};
