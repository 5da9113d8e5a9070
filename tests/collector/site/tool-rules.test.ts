import { describe, expect, test } from 'vitest';
import {
  SHOP_TOOLS,
  compilePattern,
  literalOf,
  loadToolRules,
  matches,
  readToolRules,
  searchedText,
  selectorParts,
} from '#services/collector/site/tools/tool-rules.ts';
import { matchTools, type ScannedPage } from '#services/collector/site/tools/match-tools.ts';
import { cookiesOf } from '#services/collector/site/read-site.ts';

const page = (changes: Partial<ScannedPage>): ScannedPage => ({
  url: 'https://shop.example/',
  html: '<html></html>',
  headers: {},
  cookies: {},
  ...changes,
});

const CATEGORIES = { 1: { name: 'CMS' }, 74: { name: 'A/B Testing' } };
const detect = (tools: object, changes: Partial<ScannedPage>): readonly string[] => {
  const { rules } = readToolRules(tools as Record<string, unknown>, CATEGORIES);
  return ([...matchTools(rules, page(changes))].at(-1) ?? []).map(({ name }) => name);
};

describe('a pattern', () => {
  test.each([
    ['cdn\\.shopify\\.com/s/', 'cdn.shopify.com/s/'],
    ['colou?r-scheme', 'r-scheme'],
    ['(?:one|two)three', 'three'],
    ['one|two', null],
    ['[abc]+xy', null],
    ['/wp-(?:content|includes)/', '/wp-'],
    ['ab{2}cdef', 'cdef'],
    ['jquery[.-]([\\d.]*\\d)[^/]*\\.js', 'jquery'],
  ])('%s has the literal %s', (source, literal) => {
    expect(literalOf(source)).toBe(literal);
  });

  test('keeps tags apart from its expression, and refuses one that is not valid', () => {
    expect(compilePattern('react\\;version:\\1\\;confidence:25')).toMatchObject({ confidence: 25 });
    expect(compilePattern('react')).toMatchObject({ confidence: 100 });
    expect(compilePattern('(react')).toBeNull();
  });

  test('limits its repetitions, but not the signs in a character class', () => {
    expect(compilePattern('a[*+]b.*c\\+d+')?.regex.source).toBe('a[*+]b.{0,250}c\\+d{1,250}');
  });

  test('finds in a long text what it finds in a short one', () => {
    const pattern = compilePattern('Cdn\\.Shop\\w+\\.js');
    if (pattern === null) throw new Error('the pattern is valid');
    for (const filler of ['', 'x'.repeat(5_000)]) {
      expect(matches(pattern, searchedText(`${filler} cdn.shopify.js ${filler}`))).toBe(true);
      expect(matches(pattern, searchedText(`${filler} cdn.other.js ${filler}`))).toBe(false);
    }
  });
});

test('a selector names texts of each alternative, and none within `:not()`', () => {
  expect(selectorParts(`link[href*='/wp-content/'], .Widget > #main, a:not([href='x.y'])`)).toEqual([
    { text: `link[href*='/wp-content/']`, literals: ['/wp-content/', 'href'] },
    { text: '.Widget > #main', literals: ['widget', 'main'] },
    { text: `a:not([href='x.y'])`, literals: [] },
  ]);
});

describe('a tool is detected', () => {
  test.each([
    ['a header', { headers: { Server: 'nginx' } }, { headers: { server: 'nginx/1.2' } }],
    ['the presence of a header', { headers: { 'X-Shop': '' } }, { headers: { 'x-shop': '1' } }],
    ['a cookie', { cookies: { _tool: '' } }, { cookies: { _tool: '1' } }],
    ['a meta element', { meta: { generator: 'Tool' } }, { html: '<meta name="Generator" content="tool 2">' }],
    [
      'the address of a script',
      { scriptSrc: 'cdn\\.tool' },
      { html: '<script src="//cdn.tool/a.js"></script>' },
    ],
    ['an inline script', { scripts: 'tool\\.start' }, { html: '<script>tool.start()</script>' }],
    ['the HTML', { html: '<div class="tool' }, { html: '<div class="tool-root">' }],
    ['the visible text', { text: 'made with tool' }, { html: '<p>Made with Tool</p>' }],
    ['the address of the page', { url: '\\.example/' }, {}],
    ['an element', { dom: '.tool' }, { html: '<b class="tool">' }],
    ['an attribute', { dom: { a: { attributes: { rel: '^tool' } } } }, { html: '<a rel="tool-1">' }],
    ['the text of an element', { dom: { h1: { text: 'tool' } } }, { html: '<h1>My <b>Tool</b></h1>' }],
  ])('by %s', (_name, tool, changes) => {
    expect(detect({ Tool: { cats: [1], ...tool } }, changes)).toEqual(['Tool']);
    expect(detect({ Tool: { cats: [1], ...tool } }, { url: 'https://other.test/' })).toEqual([]);
  });

  test('only with certainty: two half signs are enough, one of a quarter is not', () => {
    const signs = { headers: { server: 'x\\;confidence:25' }, cookies: { a: '\\;confidence:25' } };
    expect(detect({ Tool: signs }, { headers: { server: 'x' } })).toEqual([]);
    expect(detect({ Tool: signs }, { headers: { server: 'x' }, cookies: { a: '' } })).toEqual(['Tool']);
  });

  test('only with what it requires, and not when another excludes it', () => {
    const tools = {
      Base: { cats: [1], headers: { base: '' } },
      Addon: { requires: 'Base', html: 'addon' },
      Sub: { requires: 'Addon', html: 'addon' },
      ByCategory: { requiresCategory: 1, html: 'addon' },
      Old: { html: 'addon' },
      New: { html: 'newer', excludes: 'Old' },
    };
    expect(detect(tools, { html: 'addon' })).toEqual(['Old']);
    expect(detect(tools, { html: 'addon newer', headers: { base: '1' } })).toEqual([
      'Base',
      'Addon',
      'Sub',
      'ByCategory',
      'New',
    ]);
  });

  test('and never because another one only implies it', () => {
    expect(
      detect({ Tool: { implies: 'Base', html: 'x' }, Base: { headers: { base: '' } } }, { html: 'x' }),
    ).toEqual(['Tool']);
  });
});

test('the rules of the package are read whole, with our own list', () => {
  const { rules, faults } = loadToolRules(null);
  expect(faults).toEqual([]);
  expect(rules.length).toBeGreaterThan(3_425);
  expect(Object.keys(SHOP_TOOLS).length).toBeGreaterThanOrEqual(60);
  const shop =
    '<script src="https://cdn.intelligems.io/a.js"></script><script src="https://cdn.shopify.com/extensions/0191-ab/elevar-12/assets/a.js"></script>';
  const found = [...matchTools(rules, page({ html: shop }))].at(-1) ?? [];
  expect(found.map(({ name, category }) => [name, category])).toEqual(
    expect.arrayContaining([
      ['Intelligems', 'A/B Testing'],
      ['Elevar', expect.any(String)],
      ['Shopify', 'Ecommerce'],
    ]),
  );
});

test('a folder without rules is refused', () => {
  expect(() => loadToolRules('/nonexistent')).toThrow(/nonexistent/);
});

test('cookies that were joined are split, also around a date', () => {
  const header = '_shop=a=b; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT, Second=; HttpOnly, third';
  expect(cookiesOf(header)).toEqual({ _shop: 'a=b', second: '' });
});
