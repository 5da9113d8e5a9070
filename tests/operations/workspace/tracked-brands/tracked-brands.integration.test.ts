import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import { on } from '#tests/dsl/api.ts';
import {
  pathOf,
  trackingThrough,
  openTrackingStack,
  type TrackingStack,
} from '#tests/operations/fixtures/tracking.ts';

let stack: TrackingStack;
beforeAll(async () => {
  stack = await openTrackingStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

describe('listTrackedBrands 200', () => {
  test('lists tracked brands newest first over all pages', async () => {
    const key = await stack.key();
    for (const { id } of stack.brands.slice(0, 3)) await trackingThrough(stack.app).track(key, id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { data, meta } = await on(stack.app).get(`${pathOf(key)}?limit=2${cursor}`, { key });
      seen.push(...(data as { brand: { id: string } }[]).map(({ brand }) => brand.id));
      cursor = meta.cursor === undefined ? '' : `&cursor=${meta.cursor}`;
    } while (cursor);
    expect(seen).toEqual(
      stack.brands
        .slice(0, 3)
        .map(({ id }) => id)
        .toReversed(),
    );
  });

  test('shows a write of another process when the request sends its position as `min-position`', async () => {
    const key = await stack.key();
    const written = await trackingThrough(stack.app).track(key, stack.alpha.id);
    const other = await stack.api();
    const headers = { 'min-position': String(written.headers['x-read-position']) };
    expect((await on(other).get(pathOf(key), { key, headers })).data).toHaveLength(1);
  });
});

describe('listTrackedBrands 400', () => {
  test('rejects a cursor of another workspace, and a malformed `min-position`', async () => {
    const [key, other] = await Promise.all([stack.key(), stack.key()]);
    for (const { id } of stack.brands.slice(0, 2)) await trackingThrough(stack.app).track(key, id);
    const { meta } = await on(stack.app).get(`${pathOf(key)}?limit=1`, { key });
    expect(
      (await on(stack.app).get(`${pathOf(other)}?limit=1&cursor=${meta.cursor}`, { key: other })).status,
    ).toBe(400);
    expect((await on(stack.app).get(pathOf(key), { key, headers: { 'min-position': 'soon' } })).status).toBe(
      400,
    );
  });
});

describe('listTrackedBrandsFreshness 200', () => {
  test('compares the hours since the last reliable scan with the cadence, most overdue first', async () => {
    const key = await stack.key();
    await trackingThrough(stack.app).track(key, stack.alpha.id, 'weekly');
    await trackingThrough(stack.app).track(key, stack.brands[1]?.id ?? '', 'daily');
    const { data } = await on(stack.app).get(`${pathOf(key)}/freshness`, { key });
    expect(data).toMatchObject([
      {
        brand: { id: stack.brands[1]?.id },
        cadence: 'daily',
        slo_hours: 36,
        hours_since_reliable: 6,
        slo_status: 'ok',
      },
      {
        brand: { id: stack.alpha.id },
        cadence: 'weekly',
        slo_hours: 192,
        hours_since_reliable: 6,
        slo_status: 'ok',
      },
    ]);
  });

  test('reports `breached` when the hours of the cadence have passed', async () => {
    const key = await stack.key();
    await trackingThrough(stack.app).track(key, stack.alpha.id, 'daily');
    const later = await stack.api({ clock: { now: () => new Date(Date.now() + 31 * 3_600_000) } });
    const { data } = await on(later).get(`${pathOf(key)}/freshness`, { key });
    expect(data).toMatchObject([{ hours_since_reliable: 37, slo_status: 'breached' }]);
  });
});

describe('listTrackedBrandsFreshness 400', () => {
  test('rejects `limit`, because the list is not paged', async () => {
    const key = await stack.key();
    expect((await on(stack.app).get(`${pathOf(key)}/freshness?limit=5`, { key })).status).toBe(400);
  });
});

describe('untrackBrand 200', () => {
  test('removes a brand once, and the next read no longer shows it', async () => {
    const key = await stack.key();
    await trackingThrough(stack.app).track(key, stack.alpha.id);
    const removed = { brand_id: stack.alpha.id, workspace_id: key.workspaceId };
    expect((await trackingThrough(stack.app).untrack(key, stack.alpha.id)).data).toEqual({
      ...removed,
      removed: true,
    });
    expect((await on(stack.app).get(pathOf(key), { key })).data).toEqual([]);
    expect((await trackingThrough(stack.app).untrack(key, stack.alpha.id)).data).toEqual({
      ...removed,
      removed: false,
    });
  });
});

describe('untrackBrand 409', () => {
  test('rejects the command when concurrent changes exhaust all retries', async () => {
    const key = await stack.key();
    const load = (): Promise<never> => Promise.reject(new Refusal('changed_meanwhile', 'Try again.'));
    const crowded = await stack.api({ eventStore: { ...stack.eventStore, load } });
    const reply = await on(crowded).delete(`${pathOf(key)}/${stack.alpha.id}`, { key, body: {} });
    expect(reply.status).toBe(409);
    expect(reply.error.type).toBe('conflict');
  });
});
