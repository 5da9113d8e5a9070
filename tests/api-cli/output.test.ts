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

test('a record has a line for each field, and lists of records as JSON', () => {
  printReply(command(), { data: { id: 'x', tags: ['a', 'b'], items: [{ n: 1 }], page: { id: '7' } }, meta });
  expect(printed).toEqual(['id       x', 'tags     a, b', 'items    [{"n":1}]', 'page.id  7']);
});
