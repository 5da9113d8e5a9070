import { describe, expect, test } from 'vitest';
import type { SiteEvent } from '#contracts/events/corpus/site.ts';
import type { StorefrontEvent } from '#contracts/events/corpus/storefront.ts';
import { Observation, OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import type { StorefrontScanPage } from '#contracts/observations/storefront-scan.ts';
import { sites } from '#deploy/local/demo/generators/sites.ts';
import { storefronts } from '#deploy/local/demo/generators/storefronts.ts';
import { buildWorld } from '#deploy/local/demo/world/world.ts';
import { recordSiteScan } from '#domain/corpus/site/decider.ts';
import { site, type SiteState } from '#domain/corpus/site/state.ts';
import { recordStorefrontScan } from '#domain/corpus/storefront/decider.ts';
import { storefront, type StorefrontState } from '#domain/corpus/storefront/state.ts';

const FIRST_DAY_MS = Date.parse('2026-01-15T00:00:00.000Z');
const DAY_MS = 86_400_000;
const world = buildWorld({ seed: 7, brands: 40, ads: 400, days: 60 });
const observations = [...sites(world, FIRST_DAY_MS), ...storefronts(world, FIRST_DAY_MS)];

const events = (): readonly (SiteEvent | StorefrontEvent)[] => {
  const siteStates = new Map<string, SiteState>();
  const shopStates = new Map<string, StorefrontState>();
  const pages: StorefrontScanPage[] = [];
  return observations.flatMap((one): readonly (SiteEvent | StorefrontEvent)[] => {
    if (one.type === 'site.scan') {
      const state = siteStates.get(one.domain) ?? site.initial;
      const recorded = recordSiteScan(one)(state);
      siteStates.set(one.domain, recorded.reduce(site.evolve, state));
      return recorded;
    }
    if (one.type === 'storefront.scan') pages.push(one);
    if (one.type !== 'storefront.scan_end') return [];
    const state = shopStates.get(one.domain) ?? storefront.initial;
    const own = pages.filter(({ scan_id }) => scan_id === one.scan_id);
    const recorded = recordStorefrontScan(
      one,
      own.flatMap(({ products }) => products),
    )(state);
    shopStates.set(one.domain, recorded.reduce(storefront.evolve, state));
    return recorded;
  });
};

describe('the demo corpus of sites and shops', () => {
  test('is the same each time and fits the contracts and the days of the corpus', () => {
    expect([...sites(world, FIRST_DAY_MS), ...storefronts(world, FIRST_DAY_MS)]).toEqual(observations);
    for (const observation of observations) {
      expect(Observation.parse(observation)).toEqual(observation);
      expect(Buffer.byteLength(JSON.stringify(observation))).toBeLessThan(OBSERVATION_MAX_BYTES);
      const at = Date.parse('scanned_at' in observation ? observation.scanned_at : observation.observed_at);
      expect(at).toBeGreaterThanOrEqual(FIRST_DAY_MS);
      expect(at).toBeLessThan(FIRST_DAY_MS + world.days * DAY_MS);
    }
  });

  test('has tools on every site, some added or removed later, and readable and unreadable split-testing tools', () => {
    const recorded = events();
    const detected = recorded.filter((event) => event.type === 'ToolsDetected');
    expect(new Set(detected.map(({ data }) => data.domain)).size).toBe(world.brands);
    expect(detected.some(({ data }) => data.novelty === 'news')).toBe(true);
    const readable = recorded.flatMap((event) =>
      event.type === 'SplitTestToolsRead' ? event.data.tools.map((tool) => tool.readable) : [],
    );
    expect(new Set(readable)).toEqual(new Set([true, false]));
  });

  test('has split tests of several types, running and ended', () => {
    const recorded = events();
    const tests = recorded.flatMap((event) => (event.type === 'SplitTestsObserved' ? event.data.tests : []));
    expect(new Set(tests.map(({ type }) => type)).size).toBeGreaterThan(5);
    expect(tests.every(({ arms }) => (arms?.length ?? 0) >= 2)).toBe(true);
    const changes = recorded.flatMap((event) => (event.type === 'SplitTestsChanged' ? event.data.tests : []));
    expect(changes.some(({ changes: { state } }) => state === 'ended')).toBe(true);
  });

  test('has sales that signals detect, new products, delisted ones and a failed scan', () => {
    const recorded = events();
    const scans = recorded.flatMap((event) => (event.type === 'StorefrontScanRecorded' ? [event.data] : []));
    expect(new Set(scans.map(({ domain }) => domain)).size).toBeGreaterThan(10);
    expect(scans.some(({ totals }) => totals.cheaper >= totals.products / 10)).toBe(true);
    expect(scans.some(({ totals }) => totals.dearer > 0)).toBe(true);
    expect(scans.some(({ totals }) => totals.listed > 0)).toBe(true);
    expect(scans.some(({ totals }) => totals.delisted > 0)).toBe(true);
    expect(scans.some(({ complete, totals }) => !complete && totals.seen === 0)).toBe(true);
  });
});
