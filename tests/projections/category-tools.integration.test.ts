import { describe, it } from 'vitest';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { type SiteEvent, siteStream } from '#contracts/events/corpus/site.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { categoryPathOf } from '#domain/corpus/category.ts';
import { brandIdOf, categoryIdOf, derivedId } from '#domain/ids.ts';
import { categoryTools } from '#projections/category-tools/project.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';

const AT = '2026-06-01T00:00:00.000Z';

const brandIn = (name: string, path: readonly string[], is_public = true): GivenEvent => ({
  stream: brandStream(brandIdOf(`${name}.example`)),
  event: registered(`${name}.example`, AT, { category_path: categoryPathOf(path), is_public }),
});

const movedTo = (name: string, path: readonly string[]): GivenEvent => ({
  stream: brandStream(brandIdOf(`${name}.example`)),
  event: {
    type: 'BrandProfileChanged',
    data: {
      brand_id: brandIdOf(`${name}.example`),
      observed_at: AT,
      changes: { category_path: categoryPathOf(path) },
    },
  },
});

const onSite = (name: string, event: SiteEvent): GivenEvent => ({
  stream: siteStream(`${name}.example`),
  event,
});

const detected = (name: string, ...slugs: string[]): GivenEvent =>
  onSite(name, {
    type: 'ToolsDetected',
    data: {
      brand_id: brandIdOf(`${name}.example`),
      domain: `${name}.example`,
      observed_at: AT,
      novelty: 'news',
      tools: slugs.map((slug) => ({
        tool_id: derivedId('tool', slug),
        slug,
        name: slug,
        category: 'Analytics',
        website_url: null,
        split_testing: false,
      })),
    },
  });

const gone = (name: string, slug: string): GivenEvent =>
  onSite(name, {
    type: 'ToolsGone',
    data: {
      brand_id: brandIdOf(`${name}.example`),
      domain: `${name}.example`,
      observed_at: AT,
      tools: [{ slug, missing_since: AT }],
    },
  });

const adoptionIn =
  (...paths: readonly (readonly string[])[]) =>
  async (db: ReadDatabase): Promise<readonly string[]> => {
    const rows = await db.query<{ category_id: string; tool: string }>({
      sql: `select category_id, slug || ' ' || brands as tool from category_tools.adoption
        where brands <> 0 order by slug`,
      values: [],
    });
    return paths.map((path) =>
      rows
        .filter(({ category_id }) => category_id === categoryIdOf(path))
        .map(({ tool }) => tool)
        .join(', '),
    );
  };

describe('tools by category', () => {
  it('counts each brand once per level, by its current categories', async () => {
    const shoes = ['Apparel', 'Shoes'];
    await given([
      detected('one', 'ping', 'pong'),
      brandIn('one', [...shoes, 'Boots']),
      brandIn('two', ['Pets']),
      detected('two', 'ping', 'left'),
      movedTo('two', ['Apparel', 'Hats']),
      gone('two', 'left'),
      detected('two', 'back'),
      gone('two', 'back'),
      detected('two', 'back'),
      movedTo('two', shoes),
      brandIn('hidden', shoes, false),
      detected('hidden', 'ping'),
      detected('unknown', 'ping'),
    ])
      .into(categoryTools)
      .shows(adoptionIn(['Apparel'], shoes, [...shoes, 'Boots'], ['Apparel', 'Hats'], ['Pets']), [
        'back 1, ping 2, pong 1',
        'back 1, ping 2, pong 1',
        'ping 1, pong 1',
        '',
        '',
      ]);
  });
});
