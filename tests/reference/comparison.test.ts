import { describe, expect, test } from 'vitest';
import { compareWorlds, tellDifferences } from './comparison.ts';
import { expectedFigures } from './model.ts';
import type { ServiceUnderComparison } from './service/service.ts';
import type { Figures, World } from './world.ts';

const OPTIONS = { features: ['brands'], worlds: 60, stages: 1, seed: 1 } as const;
const STORIES = 3;

const serviceWith = (fault: (figures: Figures, world: World) => Figures): ServiceUnderComparison => ({
  run: (worlds) =>
    Promise.resolve(
      worlds.map((stages) =>
        stages.map((world) => ({ figures: fault(expectedFigures(world), world), error: null })),
      ),
    ),
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

const showsMissingAsActive = (figures: Figures): Figures => ({
  ...figures,
  ads: Object.fromEntries(
    Object.entries(figures.ads).map(([name, ad]) => [
      name,
      ad.status === 'missing' ? { ...ad, status: 'active' as const } : ad,
    ]),
  ),
});

describe('the comparison', () => {
  test('finds no difference in a service that agrees with the model', async () => {
    const comparison = await compareWorlds(
      serviceWith((figures) => figures),
      OPTIONS,
    );
    expect(comparison).toEqual({ worlds: 60, generated: 60, differing: 0, byFigure: new Map() });
  });

  test('finds each world with a fault, and tells the smallest with both figures', async () => {
    const service = serviceWith(showsMissingAsActive);
    const comparison = await compareWorlds(service, OPTIONS);
    expect(comparison.differing).toBeGreaterThan(0);
    expect([...comparison.byFigure.keys()]).toEqual(['ad: status']);
    const told = comparison.byFigure.get('ad: status') ?? [];
    const least = Math.min(...told.map(({ world }) => JSON.stringify(world).length));
    const smallest = told.find(({ world }) => JSON.stringify(world).length === least);
    const story = tellDifferences(comparison, STORIES).split('\n');
    expect(story[0]).toBe(`World no. ${smallest?.place}, stage 1:`);
    expect(story.at(-1)).toMatch(/^ {2}ad a\d: status: expected "missing", actual "active"$/);
  });

  test('reports the error of a world that could not be recorded', async () => {
    const service: ServiceUnderComparison = {
      run: (worlds) =>
        Promise.resolve(
          worlds.map((stages) => stages.map(() => ({ figures: null, error: 'ad_library.scan: refused' }))),
        ),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    const comparison = await compareWorlds(service, OPTIONS);
    expect(comparison).toMatchObject({ differing: 60, byFigure: new Map([['error', expect.any(Array)]]) });
    expect(tellDifferences(comparison, STORIES)).toContain('ad_library.scan: refused');
  });

  test('compares each stage of a generated world as a world of its own', async () => {
    const options = { ...OPTIONS, stages: 5 };
    const service = serviceWith((figures, { observations }) =>
      observations.length === 3 ? { ...figures, brands: {} } : figures,
    );
    const comparison = await compareWorlds(service, options);
    expect(comparison).toMatchObject({ worlds: 60 });
    expect(comparison.generated).toBeLessThan(30);
    expect(comparison.differing).toBeGreaterThan(0);
    const story = tellDifferences(comparison, 1);
    expect(story.match(/^day /gm)).toHaveLength(3);
  });
});
