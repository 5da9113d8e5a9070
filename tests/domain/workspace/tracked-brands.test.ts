import { describe, test } from 'vitest';
import type { TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import { PLANS } from '#contracts/values/access.ts';
import { trackBrand, trackBrands, tracking, untrackBrand } from '#domain/workspace/tracked-brands.ts';
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
const full = Array.from({ length: PLANS.free.slots }, (_, index) => tracked(`other-${index}`));

describe('trackBrand', () => {
  test('tracks a brand', () => given(tracking).when(track('brand')).records(tracked('brand')));
  test('records nothing for a tracked brand with the same cadence', () =>
    given(tracking, tracked('brand')).when(track('brand')).records());
  test('changes the cadence of a tracked brand', () =>
    given(tracking, tracked('brand'))
      .when(track('brand', 'daily'))
      .records({
        type: 'TrackingCadenceChanged',
        data: { workspace_id, brand_id: 'brand', cadence: 'daily', changed_at: AT },
      }));
  test('refuses a brand when all slots are used', () =>
    given(tracking, ...full)
      .when(track('brand'))
      .refuses('quota_used_up'));
  test('changes a cadence also when all slots are used', () =>
    given(tracking, ...full)
      .when(track('other-0', 'daily'))
      .records({
        type: 'TrackingCadenceChanged',
        data: { workspace_id, brand_id: 'other-0', cadence: 'daily', changed_at: AT },
      }));
  test('tracks a brand in a slot that became free', () =>
    given(tracking, ...full, {
      type: 'BrandUntracked',
      data: { workspace_id, brand_id: 'other-0', untracked_at: AT },
    })
      .when(track('brand'))
      .records(tracked('brand')));
});

describe('trackBrands', () => {
  const trackAll = (...brands: readonly (readonly [string, 'daily' | 'weekly'])[]) =>
    trackBrands(
      brands.map(([brand_id, cadence]) => ({ workspace_id, brand_id, cadence, plan: 'free', at: AT })),
    );

  test('tracks new brands and changes cadences, in the order of the request', () =>
    given(tracking, tracked('one'), tracked('two'))
      .when(trackAll(['new', 'weekly'], ['one', 'weekly'], ['two', 'daily']))
      .records(tracked('new'), {
        type: 'TrackingCadenceChanged',
        data: { workspace_id, brand_id: 'two', cadence: 'daily', changed_at: AT },
      }));
  test('fills the free slots with the first brands, and leaves out the others', () =>
    given(tracking, ...full.slice(1))
      .when(trackAll(['first', 'weekly'], ['second', 'weekly'], ['other-1', 'weekly']))
      .records(tracked('first')));
});

describe('untrackBrand', () => {
  test('untracks a brand', () =>
    given(tracking, tracked('brand'))
      .when(untrack('brand'))
      .records({ type: 'BrandUntracked', data: { workspace_id, brand_id: 'brand', untracked_at: AT } }));
  test('records nothing when the brand is not tracked', () =>
    given(tracking).when(untrack('brand')).records());
});
