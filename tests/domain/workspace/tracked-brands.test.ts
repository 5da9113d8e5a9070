import { describe, test } from 'vitest';
import type { TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import { PLANS } from '#contracts/values/plans.ts';
import { trackBrand, tracking, untrackBrand } from '#domain/workspace/tracked-brands.ts';
import { given } from '#tests/dsl/deciders.ts';

const AT = '2026-11-20T09:00:00.000Z';
const workspace_id = 'ws_1';
const tracked = (brand_id: string): TrackingEvent => ({
  type: 'BrandTracked',
  data: { workspace_id, brand_id, cadence: 'weekly', tracked_at: AT },
});
const track = (brand_id: string, cadence: 'daily' | 'weekly' = 'weekly') =>
  trackBrand({ workspace_id, brand_id, cadence, plan: 'free', at: AT });
const untrack = (brand_id: string) => untrackBrand({ workspace_id, brand_id, at: AT });
const full = Array.from({ length: PLANS.free.slots }, (_, place) => tracked(`other-${place}`));

describe('trackBrand', () => {
  test('tracks it', () => given(tracking).when(track('brand')).records(tracked('brand')));
  test('again with the same cadence is already so', () =>
    given(tracking, tracked('brand')).when(track('brand')).records());
  test('again with another cadence changes the cadence', () =>
    given(tracking, tracked('brand'))
      .when(track('brand', 'daily'))
      .records({
        type: 'TrackingCadenceChanged',
        data: { workspace_id, brand_id: 'brand', cadence: 'daily', changed_at: AT },
      }));
  test('refuses when the slots are used up', () =>
    given(tracking, ...full)
      .when(track('brand'))
      .refuses('quota_used_up'));
  test('changes a cadence also when the slots are used up', () =>
    given(tracking, ...full)
      .when(track('other-0', 'daily'))
      .records({
        type: 'TrackingCadenceChanged',
        data: { workspace_id, brand_id: 'other-0', cadence: 'daily', changed_at: AT },
      }));
  test('takes a slot that became free', () =>
    given(tracking, ...full, {
      type: 'BrandUntracked',
      data: { workspace_id, brand_id: 'other-0', untracked_at: AT },
    })
      .when(track('brand'))
      .records(tracked('brand')));
});

describe('untrackBrand', () => {
  test('untracks it', () =>
    given(tracking, tracked('brand'))
      .when(untrack('brand'))
      .records({ type: 'BrandUntracked', data: { workspace_id, brand_id: 'brand', untracked_at: AT } }));
  test('of a brand that is not tracked is already so', () =>
    given(tracking).when(untrack('brand')).records());
});
