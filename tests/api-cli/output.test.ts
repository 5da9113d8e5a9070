import { Command } from 'commander';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { printReply } from '#services/api-cli/output.ts';

const printed: string[] = [];
const terminal = (columns: number | null): void => {
  Object.defineProperty(process.stdout, 'isTTY', { configurable: true, value: columns !== null });
  Object.defineProperty(process.stdout, 'columns', { configurable: true, value: columns ?? undefined });
};
const before = { isTTY: process.stdout.isTTY, columns: process.stdout.columns };
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation((text: string) => void printed.push(text));
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
  printed.length = 0;
  for (const [name, value] of Object.entries(before))
    Object.defineProperty(process.stdout, name, { configurable: true, value });
});

const command = (columns?: string): Command =>
  new Command()
    .option('--columns <names>')
    .parse(columns === undefined ? [] : ['--columns', columns], { from: 'user' });
const meta = { as_of: '2026-11-20T06:00:00.000Z' };
const data = [
  { slug: 'a', logo_url: null, url: 'https://ads.example/v1/brands/a', ads: 7, category: { slug: 'shoes' } },
  { slug: 'bb', logo_url: null, url: 'https://ads.example/v1/brands/bb', ads: 12, category: null },
];

test('a terminal shows the columns that have values and fit, in order', () => {
  terminal(30);
  printReply(command(), { data, meta });
  expect(printed).toEqual(['slug  ads  category.slug', 'a     7    shoes', 'bb    12']);
});

test('a pipe gets all columns that have values, each cut to 60 characters', () => {
  terminal(null);
  printReply(command(), { data: [{ url: `https://${'x'.repeat(80)}`, text: 'two\nlines\u202e' }], meta });
  expect(printed[0]).toMatch(/^url +text$/);
  expect(printed[1]).toBe(`https://${'x'.repeat(51)}…  two\\nlines\\u202e`);
});

test('named columns are printed also where they do not fit', () => {
  terminal(10);
  printReply(command('url,slug'), { data, meta });
  expect(printed[1]).toBe('https://ads.example/v1/brands/a   a');
});

test('a record has a line for each field, and for each item of a list of records', () => {
  const items = [{ n: 1, page: { id: '7' }, scans: [{ at: 'now' }] }, { n: null }];
  printReply(command(), { data: { id: 'x', tags: ['a', 'b'], items, page: { id: '7' } }, meta });
  expect(printed).toEqual([
    'id       x',
    'tags     a, b',
    'items.0  n: 1, page.id: 7, scans: 1 item',
    'items.1  n: -',
    'page.id  7',
  ]);
});

test('a table has the number of items in place of lists that are long or hold records', () => {
  terminal(null);
  const rows = [
    { id: 'x', tags: ['a', 'b'], brands: Array(9).fill('0c914789'), numbers: [1, 2], scans: [{ n: 1 }] },
    { id: 'y', tags: [], brands: [], numbers: [3], scans: [{ n: 1 }, { n: 2 }] },
  ];
  printReply(command(), { data: rows, meta });
  expect(printed).toEqual([
    'id  tags  brands   numbers  scans',
    'x   a, b  9 items  1, 2     1 item',
    'y                  3        2 items',
  ]);
});

test('with --json a reply is as it was sent', () => {
  const json = new Command().option('--json').parse(['--json'], { from: 'user' });
  const reply = { data: [{ scans: [{ n: 1 }] }], meta };
  printReply(json, reply);
  expect(printed).toEqual([JSON.stringify(reply)]);
});
