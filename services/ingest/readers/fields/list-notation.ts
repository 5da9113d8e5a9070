const BLANKS: ReadonlySet<string> = new Set(
  String.raw`NaN nan None NULL null (null) undefined NA N/A n/a #N/A #NV <NA> NaT NA_character_ character(0) \N - – —`.split(
    ' ',
  ),
);
const LONGEST = Math.max(...Array.from(BLANKS, (blank) => blank.length));

export const isBlankText = (text: string): boolean => {
  const trimmed = text.trim();
  return trimmed === '' || (trimmed.length <= LONGEST && BLANKS.has(trimmed));
};

const FRAMES: readonly { readonly pattern: RegExp; readonly of?: 'named' | 'words' | 'several' }[] = [
  {
    pattern:
      /^(?:(?:np|numpy|pd)\.)?(?:c|list|tuple|set|frozenset|deque|array|Index|Series)\s*\(([\s\S]*?)(?:,\s*(?:dtype|shape|name)=[^,()]+)*\)$/,
    of: 'named',
  },
  { pattern: /^(?:ARRAY\s*)?\[([\s\S]*)\]$/ },
  // Postgres quotes an element only if it has a space or a sign.
  { pattern: /^\{([\s\S]*)\}$/, of: 'words' },
  // A tuple of one element ends with a comma. Without it, the parentheses belong to a text.
  { pattern: /^\(([\s\S]*)\)$/, of: 'several' },
];
const QUOTED = String.raw`[ubr]?'((?:[^'\\]|\\[\s\S])*)'|[ubr]?"((?:[^"\\]|\\[\s\S])*)"`;
const WORD = String.raw`[^\s"'()[\]{},]+`;
const ITEM = String.raw`(?:${QUOTED}|(${WORD}(?:\s+${WORD})*))(?:\s*(?:,|$)\s*|\s+(?=["']))`;
/** R names elements: `c(first = "a")`. */
const NAME = String.raw`(?:(?:[\w.]+|\x60[^\x60]*\x60|"[^"]*")\s*=\s*(?=["']))?`;
const ITEMS = {
  named: new RegExp(String.raw`\s*${NAME}${ITEM}`, 'y'),
  plain: new RegExp(String.raw`\s*${ITEM}`, 'y'),
};
const ESCAPES: { readonly [letter: string]: string } = { n: '\n', t: '\t', r: '\r', '0': '\0' };

export type List = { readonly items: readonly string[]; readonly isCertain: boolean };

/** Elements of a list in the notation of JSON, Python, numpy, R or Postgres. `null` also for nested lists. */
export const listNotation = (text: string): List | null => {
  const written = withPlainQuotes(text.trim());
  const frame = FRAMES.find(({ pattern }) => pattern.test(written));
  const inner = frame?.pattern.exec(written)?.[1]?.trim();
  if (frame === undefined || inner === undefined) return null;
  if (frame.of === 'named' && /^[[{(]/.test(inner)) return listNotation(inner);
  const items: string[] = [];
  const words: string[] = [];
  const item = frame.of === 'named' ? ITEMS.named : ITEMS.plain;
  item.lastIndex = 0;
  while (item.lastIndex < inner.length) {
    const found = item.exec(inner);
    if (found === null) return null;
    const [, single, double, bare = ''] = found;
    const quoted = single ?? double;
    if (quoted === undefined && !isBlankText(bare)) words.push(bare);
    items.push(quoted === undefined ? bare : unescaped(quoted));
  }
  const isQuoted =
    words.length === 0 ||
    (frame.of === 'words' && words.length < items.length && !words.some((word) => /\s/.test(word)));
  const isTooShort = frame.of === 'several' && items.length === 1 && !inner.endsWith(',');
  return { items, isCertain: isQuoted && !isTooShort };
};

const withPlainQuotes = (text: string): string => {
  const whole = /^(["'])([[{(][\s\S]*[\]})])\1$/.exec(text)?.[2] ?? text;
  const [first] = /^[^"'\\]*(?:\\["']|""|'')(?=[^\s,\]})])/.exec(whole) ?? [];
  if (first === undefined) return whole.replaceAll(/\bnp\.str_\(((["'])(?:\\.|(?!\2)[^\\])*\2)\)/g, '$1');
  return whole.replaceAll(first.slice(-2), first.slice(-1));
};

const unescaped = (text: string): string =>
  text.replaceAll(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g,
    (_, two?: string, four?: string, eight?: string, letter?: string) => {
      const code = two ?? four ?? eight;
      if (code !== undefined) return codePoint(Number.parseInt(code, 16));
      return ESCAPES[letter ?? ''] ?? letter ?? '';
    },
  );

const codePoint = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD');
