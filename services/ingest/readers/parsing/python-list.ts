const ESCAPES: { readonly [letter: string]: string } = { n: '\n', t: '\t', r: '\r', '0': '\0' };
const ITEM = /\s*(?:'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)"|(None|nan|null|-?[\d.]+))\s*(,|\]$)/y;

/**
 * Returns the texts of a list in Python notation (`['a', "b's", None]`) or JSON. `null` when the text is not such a
 * list. Only flat lists are supported: nested ones have breakdowns that are not stored.
 */
export const pythonList = (text: string): readonly string[] | null => {
  const trimmed = text.trim();
  if (!trimmed.startsWith('[') || !trimmed.endsWith(']')) return null;
  if (/^\[\s*\]$/.test(trimmed)) return [];
  const items: string[] = [];
  ITEM.lastIndex = 1;
  for (;;) {
    const found = ITEM.exec(trimmed);
    if (found === null) return null;
    const quoted = found[1] ?? found[2];
    if (quoted !== undefined) items.push(unescaped(quoted));
    if (found[4] !== ',') return items;
  }
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
