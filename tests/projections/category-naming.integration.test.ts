import { describe, it } from 'vitest';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { categoryStream } from '#contracts/events/corpus/category.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { category, categoryPathOf, defineCategory } from '#domain/corpus/category.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { categories } from '#projections/categories/project.ts';
import { findCategory } from '#projections/categories/read.ts';
import { brands } from '#projections/brands/project.ts';
import { categoryNameSql } from '#projections/shared-tables/category-naming.ts';
import { splitTests } from '#projections/split-tests/project.ts';
import { tools } from '#projections/tools/project.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';

/** Definitions come before brand profiles in any order of the streams. */

const on = (day: number): string => `2026-06-0${day}T00:00:00.000Z`;

const brandIn = (domain: string, day: number, path: readonly string[]): GivenEvent => ({
  stream: brandStream(brandIdOf(domain)),
  event: registered(domain, on(day), { category_path: categoryPathOf(path) }),
});

const movedTo = (domain: string, day: number, path: readonly string[]): GivenEvent => ({
  stream: brandStream(brandIdOf(domain)),
  event: {
    type: 'BrandProfileChanged',
    data: {
      brand_id: brandIdOf(domain),
      observed_at: on(day),
      changes: { category_path: categoryPathOf(path) },
    },
  },
});

const namedOnly = (domain: string, day: number): GivenEvent => ({
  stream: brandStream(brandIdOf(domain)),
  event: registered(domain, on(day), { category_path: [] }),
});

const defined = (...definitions: readonly (readonly [day: number, path: string[]])[]): GivenEvent[] => {
  let state = category.initial;
  return definitions.flatMap(([day, path]) => {
    const events = defineCategory({
      type: 'category.define',
      observed_at: on(day),
      path,
      level: null,
      taxonomy: null,
      taxonomy_id: null,
      description: null,
    })(state);
    state = events.reduce(category.evolve, state);
    return events.map((event) => ({ stream: categoryStream(categoryIdOf(path)), event }));
  });
};

const shown =
  (...paths: readonly (readonly string[])[]) =>
  async (db: ReadDatabase): Promise<readonly unknown[]> =>
    Promise.all(
      paths.map(async (path) => {
        const document = await findCategory(db, categoryIdOf(path));
        if (document === null) return null;
        const { name, slug, level, parent } = JSON.parse(document.item.replaceAll('\u0001', ''));
        return [name, slug, level, parent?.name ?? null];
      }),
    );

/** Projects the given order and the reverse order of the streams. */
const inBothOrders = (streams: readonly (readonly GivenEvent[])[]): readonly (readonly GivenEvent[])[] => [
  streams.flat(),
  streams.toReversed().flat(),
];

describe('the time of a category', () => {
  const PATH = ['Apparel'];
  const asOf = async (db: ReadDatabase) => [
    (await findCategory(db, categoryIdOf(PATH)))?.as_of?.slice(0, 10),
  ];

  it('is that of a profile, also when a link of a later time registered the brand', async () => {
    for (const events of [
      [brandIn('a.example', 2, PATH)],
      [namedOnly('a.example', 5), movedTo('a.example', 2, PATH)],
    ])
      await given(events)
        .into(categories)
        .shows(asOf, [on(2).slice(0, 10)]);
  });
});

describe('the name of a category', () => {
  const HOME = ['Home & Garden'];
  const PATH = [...HOME, 'Lamps'];

  it('comes from the earliest brand profile when no definition names it', async () => {
    for (const events of inBothOrders([
      [brandIn('b.example', 2, ['HOME & GARDEN', 'LAMPS']), movedTo('b.example', 4, ['home & garden'])],
      [brandIn('a.example', 1, PATH)],
      [brandIn('c.example', 3, ['home & garden', 'lamps'])],
    ])) {
      await given(events)
        .into(categories)
        .shows(shown(HOME, PATH), [
          ['Home & Garden', 'home-garden', 1, null],
          ['Lamps', 'lamps', 2, 'Home & Garden'],
        ]);
    }
  });

  it('comes from the brand with the smaller id when two profiles have the same time', async () => {
    const domains = ['a.example', 'b.example'].toSorted((one, other) =>
      brandIdOf(one) < brandIdOf(other) ? -1 : 1,
    );
    const [smaller = '', larger = ''] = domains;
    for (const events of inBothOrders([
      [brandIn(larger, 1, ['APPAREL'])],
      [brandIn(smaller, 1, ['apparel'])],
    ])) {
      await given(events)
        .into(categories)
        .shows(shown(['Apparel']), [['apparel', 'apparel', 1, null]]);
    }
  });

  it('comes from a definition, even when an earlier brand profile has another name and parent', async () => {
    for (const events of inBothOrders([
      // One name that looks like a path has the id of the path.
      [brandIn('a.example', 1, ['HOME & GARDEN > LAMPS'])],
      [brandIn('b.example', 2, ['HOME & GARDEN', 'lamps', 'DESK LAMPS'])],
      defined([3, PATH], [5, ['Home & Garden', 'LampS']]),
      [brandIn('c.example', 4, ['home & garden', 'lamps'])],
    ])) {
      await given(events)
        .into(categories)
        .shows(shown(HOME, PATH, [...PATH, 'Desk lamps']), [
          ['Home & Garden', 'home-garden', 1, null],
          ['LampS', 'lamps', 2, 'Home & Garden'],
          ['DESK LAMPS', 'desk-lamps', 3, 'LampS'],
        ]);
    }
  });

  it("comes from the category's own definition before a definition below it", async () => {
    for (const events of inBothOrders([
      defined([1, ['HOME & GARDEN', 'Lamps']]),
      defined([2, HOME]),
      [brandIn('a.example', 1, ['home & garden'])],
    ])) {
      await given(events)
        .into(categories)
        .shows(shown(HOME), [['Home & Garden', 'home-garden', 1, null]]);
    }
  });

  it('is the same where tools show it', async () => {
    const names = async (db: ReadDatabase): Promise<readonly string[]> =>
      (
        await db.query<{ name: string }>({
          sql: 'select coalesce(defined_name, name) as name from tools.category order by 1',
          values: [],
        })
      ).map(({ name }) => name);
    for (const events of inBothOrders([
      [brandIn('a.example', 1, ['home & garden']), brandIn('d.example', 2, ['toys'])],
      [brandIn('b.example', 1, ['HOME & GARDEN']), brandIn('e.example', 3, ['TOYS'])],
      defined([3, HOME], [4, ['HOME & Garden']]),
      defined([3, PATH]),
    ])) {
      await given(events).into(tools).shows(names, ['HOME & Garden', 'toys']);
    }
  });

  it('is the same in the records of brands, also of those named before', async () => {
    const records = async (db: ReadDatabase): Promise<readonly unknown[]> =>
      (
        await db.query<{ slug: string; summary: string }>({
          sql: 'select slug, summary from brands.brand order by slug',
          values: [],
        })
      ).map(({ slug, summary }) => {
        const { category: top, mid_category: mid } = JSON.parse(summary.replaceAll('\u0001', ''));
        return [slug, top.name, mid?.name ?? null];
      });
    for (const events of inBothOrders([
      [brandIn('a.example', 1, ['home & garden', 'lamps']), brandIn('d.example', 2, ['toys'])],
      [brandIn('b.example', 1, ['HOME & GARDEN', 'LAMPS']), brandIn('e.example', 3, ['TOYS'])],
      defined([3, HOME], [4, ['HOME & Garden']]),
      defined([3, PATH]),
    ])) {
      await given(events)
        .into(brands)
        .shows(records, [
          ['a', 'HOME & Garden', PATH[1]],
          ['b', 'HOME & Garden', PATH[1]],
          ['d', 'toys', null],
          ['e', 'toys', null],
        ]);
    }
  });

  it('is the same where split tests show it', async () => {
    const names = async (db: ReadDatabase): Promise<readonly string[]> =>
      (
        await db.query<{ name: string }>({
          sql: `select ${categoryNameSql('c')} as name from split_tests.category c order by 1`,
          values: [],
        })
      ).map(({ name }) => name);
    for (const events of inBothOrders([
      [brandIn('a.example', 1, ['home & garden'])],
      [brandIn('b.example', 2, ['HOME & GARDEN'])],
      defined([3, HOME]),
    ])) {
      await given(events).into(splitTests).shows(names, ['Home & Garden']);
    }
  });
});
