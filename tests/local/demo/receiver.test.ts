import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '#deploy/local/demo/receiver/receiver.ts';
import { signatureHeaders, webhookKeysOf } from '#platform/channels/webhook.ts';

const NOW = new Date('2026-11-23T13:00:00.000Z');
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const headersOf = (body: string): Record<string, string> => {
  const list = signatureHeaders('id', NOW, Buffer.from(body), webhookKeysOf(SECRET));
  return Object.fromEntries(
    list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1] ?? '']] : [])),
  );
};

describe('the receiver of the demo', () => {
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await startReceiver(0, { now: () => NOW }, SECRET);
  });
  afterAll(() => receiver[Symbol.asyncDispose]());

  const post = async (body: string, headers = headersOf(body)): Promise<number> =>
    (await fetch(`${receiver.url}/webhook`, { method: 'POST', body, headers })).status;
  const page = async (): Promise<string> => (await fetch(receiver.url)).text();

  const BRAND_ID = '0c914789-0dd7-5f51-9e0e-df7a3bc331cc';
  const PAYLOAD = {
    id: '5a1f0e5c-58f4-4b0e-9c38-6f2a8a1c1a11',
    type: 'alert.matched',
    kind: 'alert',
    created_at: NOW.toISOString(),
    workspace_id: 'ws_demo',
    alert: { id: BRAND_ID, name: 'Launches', trigger: 'new_ads', cadence: 'instant' },
    period: null,
    items_total: 6,
    items: Array.from({ length: 5 }, () => ({
      id: BRAND_ID,
      type: 'ad_started',
      observed_at: NOW.toISOString(),
      brand: {
        id: BRAND_ID,
        slug: 'shop',
        name: 'Shop & <b>Sons</b>',
        logo_url: null,
        url: 'http://127.0.0.1/v1/brands/shop',
      },
      title: 'A new ad <script>alert(1)</script>',
      ad_id: '7100000000000014',
      page_id: null,
      destination_url: 'https://shop.example/?a="b"',
      previous_destination_url: null,
      signal: null,
      url: 'http://127.0.0.1/v1/ads/7100000000000014',
    })),
    as_of: NOW.toISOString(),
  };

  test('says that nothing has arrived yet', async () => {
    expect(await page()).toContain('Nothing has arrived yet');
  });

  test('shows a genuine webhook with its items, and runs nothing of it', async () => {
    expect(await post(JSON.stringify(PAYLOAD))).toBe(204);
    const text = await page();
    expect(text).toContain('signature verified');
    expect(text).toContain('<strong>Launches</strong> (alert), 6 items');
    expect(text).toContain('and 2 more');
    expect(text).toContain('Shop &amp; &lt;b&gt;Sons&lt;/b&gt;');
    expect(text).not.toContain('<script>');
  });

  test('refuses a webhook that is not genuine, and shows that', async () => {
    expect(await post(JSON.stringify(PAYLOAD), headersOf('{}'))).toBe(401);
    expect(await page()).toContain('refused');
    const { deliveries } = (await (await fetch(`${receiver.url}/deliveries`)).json()) as {
      deliveries: { fault: string | null; payload: object | null }[];
    };
    expect(deliveries[0]).toMatchObject({ fault: expect.stringContaining('secret'), payload: null });
    expect(deliveries[1]).toMatchObject({ fault: null, payload: { id: PAYLOAD.id } });
  });

  test('keeps the last 100 deliveries', async () => {
    for (let nth = 0; nth < 105; nth += 1) await post('{"nth":1}');
    const { deliveries } = (await (await fetch(`${receiver.url}/deliveries`)).json()) as {
      deliveries: object[];
    };
    expect(deliveries).toHaveLength(100);
  });

  test('refuses long bodies, other paths and other host names', async () => {
    expect(await post('x'.repeat(1024 * 1024 + 1))).toBe(413);
    expect((await fetch(`${receiver.url}/other`)).status).toBe(404);
    expect((await fetch(receiver.url, { method: 'DELETE' })).status).toBe(404);
    const { port } = new URL(receiver.url);
    const status = await new Promise((resolve, reject) => {
      request({ port, host: '127.0.0.1', headers: { host: `rebound.example:${port}` } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once('error', reject)
        .end();
    });
    expect(status).toBe(421);
  });
});
