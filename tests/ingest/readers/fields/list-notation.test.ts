import { describe, expect, test } from 'vitest';
import { listNotation } from '#services/ingest/readers/fields/list-notation.ts';

describe('a list', () => {
  test.each([
    ['JSON', String.raw`["a", "b c", "\ud83d\ude00"]`, ['a', 'b c', '😀']],
    ['Python', String.raw`['a', "b's", 'c\n', None]`, ['a', "b's", 'c\n', 'None']],
    ['Python 2', `[u'a', u'b']`, ['a', 'b']],
    ['a tuple', `('a', 'b')`, ['a', 'b']],
    ['a tuple of one', `('a',)`, ['a']],
    ['a set', `{'a', 'b'}`, ['a', 'b']],
    ['a frozen set', `frozenset({'a'})`, ['a']],
    ['an empty set', 'set()', []],
    ['numpy', `['a' 'b'\n 'c']`, ['a', 'b', 'c']],
    ['numpy 2', `[np.str_('a'), np.str_("b")]`, ['a', 'b']],
    ['an array', `array(['a', 'b'], dtype=object)`, ['a', 'b']],
    ['R', `c("a", "b")`, ['a', 'b']],
    ['R with names', 'c(x = "a", `y z` = "b", "w" = \'c\')', ['a', 'b', 'c']],
    ['an array with its module', `np.array(['a' 'b'])`, ['a', 'b']],
    ['a tuple by its name', `tuple(('a', 'b'))`, ['a', 'b']],
    ['an index of pandas', `Index(['a', 'b'], dtype='object', name='x')`, ['a', 'b']],
    ['an array of Postgres', `ARRAY['a','b']`, ['a', 'b']],
    ['Postgres', `{"a b",c,NULL}`, ['a b', 'c', 'NULL']],
    ['a SQL export that doubles quotes', `[""a"", ""b""]`, ['a', 'b']],
    ['a SQL export that quotes the whole', `"{""a b"",c}"`, ['a b', 'c']],
    ['an export that escapes quotes', String.raw`"[\"a\", \"b\"]"`, ['a', 'b']],
    ['only blanks', '[nan]', ['nan']],
    ['nothing', '[]', []],
  ])('of %s is read, and can be nothing else', (_, text, items) => {
    expect(listNotation(text)).toEqual({ items, isCertain: true });
  });

  test.each(['{a,b}', '[a, b]', '(a, b)', '[1, 2]', '("a")', '["a", b]'])(
    'is possible but not certain in %s',
    (text) => {
      expect(listNotation(text)?.isCertain).toBe(false);
    },
  );

  test.each([
    'a, b',
    '{{product.brand}}',
    '["a" b]',
    `[{'a': 1}]`,
    '[class="x"]',
    'Call us (a = "b")',
    `['a'`,
    '"(Limited) offer (today)"',
    "('tis the season, 'twas)",
    '',
  ])('is not found in %j', (text) => {
    expect(listNotation(text)).toBeNull();
  });

  test('is looked for in a time that grows with the text only', () => {
    const long = 200_000;
    for (const text of [`[x${' '.repeat(long)}{]`, `[${'a '.repeat(long)}{]`, `['a'${' '.repeat(long)}{]`])
      expect(listNotation(text)).toBeNull();
  });
});
