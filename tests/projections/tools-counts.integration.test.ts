import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { tools } from '#projections/tools/project.ts';
import { findTool, listTools } from '#projections/tools/read.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import { brandEvent, siteEvents, siteScan, siteTool } from '../dsl/site-events.ts';
import { seedOf } from '#tests/property-seed.ts';

/** Counts are updated by differences. The scans are incomplete, so a site keeps every tool that was found on it. */
const DOMAINS = ['a.com', 'b.com', 'c.com'] as const;
const SLUGS = ['one', 'two', 'three'] as const;
const CATEGORIES = ['Home', 'Pets'] as const;

type Step =
  | { readonly domain: string; readonly found: readonly string[] }
  | { readonly domain: string; readonly is_public: boolean }
  | { readonly domain: string; readonly category: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ domain: fc.constantFrom(...DOMAINS), found: fc.subarray([...SLUGS]) }),
  fc.record({ domain: fc.constantFrom(...DOMAINS), is_public: fc.boolean() }),
  fc.record({ domain: fc.constantFrom(...DOMAINS), category: fc.constantFrom(...CATEGORIES) }),
);

const categoryOf = (name: string) => ({ id: categoryIdOf([name]), slug: name.toLowerCase(), name });
const changed = (domain: string, changes: object): GivenEvent => {
  const data = { brand_id: brandIdOf(domain), observed_at: '2026-05-01T00:00:00.000Z', changes };
  return {
    stream: brandStream(data.brand_id),
    event: { type: 'BrandProfileChanged', data } satisfies BrandEvent,
  };
};

const eventsOf = (steps: readonly Step[]): readonly GivenEvent[] => {
  const at = (index: number): string =>
    new Date(Date.parse('2026-05-01T00:00Z') + index * 60_000).toISOString();
  const scans = siteEvents(
    ...steps.flatMap((one, index) =>
      'found' in one
        ? [
            siteScan(one.domain, at(index), {
              complete: false,
              tools: one.found.map((slug) => siteTool(slug)),
            }),
          ]
        : [],
    ),
  );
  const profiles = steps.flatMap((one) => {
    if ('is_public' in one) return [changed(one.domain, { is_public: one.is_public })];
    return 'category' in one ? [changed(one.domain, { category_path: [categoryOf(one.category)] })] : [];
  });
  const brands = DOMAINS.map((domain) =>
    brandEvent(registered(domain, '2026-05-01T00:00:00.000Z', { category_path: [] })),
  );
  return [...scans.slice(0, scans.length / 2), ...brands, ...profiles, ...scans.slice(scans.length / 2)];
};

const expected = (steps: readonly Step[]) => {
  const sites = DOMAINS.map((domain) => {
    const own = steps.filter((one) => one.domain === domain);
    const scans = own.flatMap((one) => ('found' in one ? [one.found] : []));
    return {
      tools: new Set(scans.flat()),
      isScanned: scans.length > 0,
      isPublic: own.flatMap((one) => ('is_public' in one ? [one.is_public] : [])).at(-1) ?? true,
      category: own.flatMap((one) => ('category' in one ? [one.category] : [])).at(-1) ?? null,
    };
  }).filter(({ isPublic }) => isPublic);
  const having = (slug: string) => sites.filter((site) => site.tools.has(slug));
  return SLUGS.filter((slug) => having(slug).length > 0)
    .map((slug) => ({
      slug,
      brands: having(slug).length,
      categories: CATEGORIES.flatMap((name) => {
        const of = (list: typeof sites): number =>
          list.filter(({ category, isScanned }) => category === name && isScanned).length;
        return of(having(slug)) > 0 ? [`${name} ${of(having(slug))}/${of(sites)}`] : [];
      }),
      with: SLUGS.flatMap((other) => {
        const both = other === slug ? 0 : having(slug).filter((site) => site.tools.has(other)).length;
        return both > 0 ? [`${other} ${both}`] : [];
      }),
    }))
    .toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
};

type Shown = {
  readonly slug: string;
  readonly brands: number;
  readonly adoption_by_category: readonly {
    readonly category: { readonly name: string };
    readonly brands: number;
    readonly scanned_brands: number;
  }[];
  readonly common_combinations: readonly {
    readonly tool: { readonly slug: string };
    readonly brands: number;
  }[];
};

const shown = async (db: ReadDatabase) => {
  const { items } = await listTools(db, {}, { limit: 100, after: null });
  const slugs = items.map((item) => (JSON.parse(item.replaceAll('\u0001', '')) as Shown).slug);
  const found = await Promise.all(slugs.map((slug) => findTool(db, { slug })));
  return found
    .map((tool) => JSON.parse((tool?.item ?? '').replaceAll('\u0001', '')) as Shown)
    .map((tool) => ({
      slug: tool.slug,
      brands: tool.brands,
      categories: tool.adoption_by_category
        .map(({ category, brands, scanned_brands }) => `${category.name} ${brands}/${scanned_brands}`)
        .toSorted(),
      with: SLUGS.flatMap((other) => {
        const pair = tool.common_combinations.find((one) => one.tool.slug === other);
        return pair ? [`${other} ${pair.brands}`] : [];
      }),
    }))
    .toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
};

it.each([1, 2, 3])('counts updated by differences equal a plain count at the end (seed %i)', async (seed) => {
  const [steps] = fc.sample(fc.array(step, { minLength: 30, maxLength: 40 }), {
    seed: seedOf(seed),
    numRuns: 1,
  });
  expect(steps?.length).toBeGreaterThan(0);
  await given(eventsOf(steps ?? []))
    .into(tools)
    .shows(shown, expected(steps ?? []));
});
