import { describe, expect, it } from 'vitest';
import type { CategoryChanged, CategoryEvent } from '#contracts/events/corpus/category.ts';
import { CategoryDefine } from '#contracts/observations/category-define.ts';
import { Observation } from '#contracts/observations/index.ts';
import { category, defineCategory } from '#domain/corpus/category.ts';
import { categoryIdOf } from '#domain/ids.ts';
import { given } from '#tests/dsl/deciders.ts';

const at = (day: number): string => `2026-05-0${day}T00:00:00.000Z`;
const PATH = ['Apparel', 'Shoes'];
const SHOES = categoryIdOf(PATH);

const definition = (fields: Partial<CategoryDefine> = {}): CategoryDefine => ({
  type: 'category.define',
  observed_at: at(1),
  path: PATH,
  level: 2,
  taxonomy: 'shop-taxonomy',
  taxonomy_id: '187',
  description: null,
  ...fields,
});

const defined: CategoryEvent = {
  type: 'CategoryDefined',
  data: {
    category_id: SHOES,
    path: [
      { id: categoryIdOf(['Apparel']), slug: 'apparel', name: 'Apparel' },
      { id: SHOES, slug: 'shoes', name: 'Shoes' },
    ],
    name: 'Shoes',
    description: null,
    taxonomy_ids: { 'shop-taxonomy': '187' },
    observed_at: at(1),
  },
};

const changed = (
  day: number,
  changes: CategoryChanged['data']['changes'],
  confirmed: readonly string[],
): CategoryEvent => ({
  type: 'CategoryChanged',
  data: { category_id: SHOES, observed_at: at(day), changes, confirmed },
});

describe('defineCategory', () => {
  it('defines a category once, with its path', () => {
    given(category).when(defineCategory(definition())).records(defined);
    given(category, defined).when(defineCategory(definition())).records();
    given(category, defined)
      .when(defineCategory(definition({ observed_at: at(2) })))
      .records(changed(2, {}, ['name', 'taxonomy_ids.shop-taxonomy']));
  });

  it('changes only the fields that a later definition states', () => {
    given(category, defined)
      .when(
        defineCategory(
          definition({ observed_at: at(2), path: ['apparel', 'SHOES'], description: 'For feet.' }),
        ),
      )
      .records(changed(2, { name: 'SHOES', description: 'For feet.' }, ['taxonomy_ids.shop-taxonomy']));
  });

  it('keeps the ids of every taxonomy that defines the category', () => {
    given(category, defined)
      .when(defineCategory(definition({ observed_at: at(2), taxonomy: 'other', taxonomy_id: 'X-9' })))
      .records(changed(2, { taxonomy_ids: { 'shop-taxonomy': '187', other: 'X-9' } }, ['name']));
  });

  it('fills only blanks from an older definition, and names the categories above as it does', () => {
    const older = definition({
      observed_at: '2021-09-21T00:00:00.000Z',
      path: ['apparel', 'shoes'],
      taxonomy: 'other',
      taxonomy_id: 'X-9',
      description: 'For feet.',
    });
    const completed: CategoryEvent = {
      type: 'CategoryChanged',
      data: {
        category_id: SHOES,
        observed_at: '2021-09-21T00:00:00.000Z',
        changes: { description: 'For feet.', taxonomy_ids: { 'shop-taxonomy': '187', other: 'X-9' } },
        confirmed: [],
        earlier_path: [
          { id: categoryIdOf(['Apparel']), slug: 'apparel', name: 'apparel' },
          { id: SHOES, slug: 'shoes', name: 'shoes' },
        ],
      },
    };
    given(category, defined).when(defineCategory(older)).records(completed);
    given(category, defined, completed)
      .when(defineCategory({ ...older, observed_at: '2022-01-01T00:00:00.000Z', description: 'Not feet.' }))
      .records({
        type: 'CategoryChanged',
        data: {
          category_id: SHOES,
          observed_at: '2022-01-01T00:00:00.000Z',
          changes: { description: 'Not feet.' },
          confirmed: ['taxonomy_ids.other'],
        },
      });
  });

  it('ignores blanks and values of a definition that is not newer', () => {
    given(category, defined)
      .when(defineCategory(definition({ path: ['Apparel', 'SHOES'], taxonomy_id: '186' })))
      .records();
    const described: CategoryEvent = {
      type: 'CategoryChanged',
      data: {
        category_id: SHOES,
        observed_at: at(3),
        changes: { description: 'For feet.' },
        confirmed: ['name', 'taxonomy_ids.shop-taxonomy'],
      },
    };
    given(category, defined, described)
      .when(defineCategory(definition({ observed_at: at(2), description: 'Old.' })))
      .records();
    given(category, defined, described)
      .when(defineCategory(definition({ observed_at: at(4), taxonomy: null, taxonomy_id: null })))
      .records(changed(4, {}, ['name']));
  });
});

describe('the definition schema', () => {
  const faultOf = (fields: object): string => {
    const parsed = Observation.safeParse({ ...definition(), ...fields });
    const issue = parsed.error?.issues[0];
    return issue ? `${issue.path.join('.')}: ${issue.message}` : 'taken';
  };
  it.each([
    ['a cycle on the path', { path: ['Apparel', 'Shoes', 'apparel'], level: 3 }, /path: .*inside itself/],
    ['a level that is not the path’s', { level: 3 }, /level: is not the number of names/],
    ['a fourth level', { path: ['a', 'b', 'c', 'd'], level: null }, /path: /],
    ['an id without its taxonomy', { taxonomy: null }, /taxonomy_id: an id needs its taxonomy/],
    ['a name that is a path', { path: ['Apparel > Shoes'], level: 1 }, /path.0: a name holds no ">"/],
    ['an empty name', { path: [' '], level: 1 }, /path.0: /],
    ['an empty path', { path: [], level: null }, /path: /],
    ['an unknown field', { colour: 'red' }, /colour/],
  ])('rejects %s', (_, fields, fault) => {
    expect(faultOf(fields)).toMatch(fault);
  });
  it('accepts a valid definition', () => {
    expect(faultOf({})).toBe('taken');
    expect(CategoryDefine.parse(definition({ path: [' Apparel ', 'Shoes'] })).path).toEqual(PATH);
  });
});
