const ESCAPES: { readonly [letter: string]: string } = { n: '\n', t: '\t', r: '\r', '0': '\0' };
const ITEM = /\s*(?:'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)"|(None|nan|null|-?[\d.]+))\s*(,|\]$)/y;

/**
 * The texts of a list as Python prints it (`['a', "b's", None]`), which also reads JSON lists. `null`
 * when the text is no such list. Only flat lists: nested ones hold breakdowns we do not keep.
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
