import { selectAll } from 'css-select';
import { type AnyNode, type Document, type Element, isTag } from 'domhandler';
import { textContent } from 'domutils';
import { parseDocument, Parser } from 'htmlparser2';
import { type SearchedText, type Sign, type ToolRule, matches, searchedText } from './tool-rules.ts';

/** Certainty in percent from which a tool counts as detected. */
export const DETECTED_PERCENT = 50;
const SCRIPT_MAX_LENGTH = 100_000;
const ELEMENT_TEXT_MAX_LENGTH = 10_000;

export type ScannedPage = {
  readonly url: string;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
};

/** Texts of a page or an element by the place of a sign. */
type Texts = ReadonlyMap<string, readonly SearchedText[]>;

const textsOf = (entries: readonly (readonly [place: string, text: string])[]): Texts => {
  const texts = new Map<string, SearchedText[]>();
  for (const [place, text] of entries) {
    const known = texts.get(place) ?? [];
    texts.set(place, known);
    known.push(searchedText(text));
  }
  return texts;
};

/** Reads what needs no element tree, and the visible text. */
const readPage = ({ url, html, headers, cookies }: ScannedPage) => {
  const entries: [place: string, text: string][] = [
    ['url', url],
    ...Object.entries(headers).map(([name, value]): [string, string] => [`headers ${name}`, value]),
    ...Object.entries(cookies).map(([name, value]): [string, string] => [`cookies ${name}`, value]),
  ];
  const visible: string[] = [];
  let open: 'script' | 'style' | null = null;
  let script = '';
  const parser = new Parser(
    {
      onopentag: (element, { name, property, content, src, rel, as, href }) => {
        const key = (name ?? property)?.toLowerCase();
        if (element === 'meta' && key !== undefined) entries.push([`meta ${key}`, content ?? '']);
        if (element === 'script' || element === 'style') open = element;
        if (element === 'script' && src !== undefined) entries.push(['scriptSrc', src]);
        // Links name scripts that are preloaded.
        if (element === 'link' && href !== undefined && (as === 'script' || rel === 'modulepreload'))
          entries.push(['scriptSrc', href]);
      },
      ontext: (text) => {
        if (open === 'script' && script.length < SCRIPT_MAX_LENGTH) script += text;
        if (open === null) visible.push(text);
      },
      onclosetag: (element) => {
        if (element !== 'script' && element !== 'style') return;
        if (script !== '') entries.push(['scripts', script]);
        script = '';
        open = null;
      },
    },
    { decodeEntities: true },
  );
  parser.write(html);
  parser.end();
  return { texts: textsOf(entries), text: visible.join(' ').replace(/\s+/g, ' ') };
};

/** Sums the certainty of all matching patterns. */
const certaintyOf = (signs: readonly Sign[], texts: Texts): number =>
  signs.reduce((sum, { place, pattern }) => {
    const isFound = texts.get(place)?.some((text) => matches(pattern, text));
    return isFound ? sum + pattern.confidence : sum;
  }, 0);

const textsOfElement = (element: Element, signs: readonly Sign[]): Texts =>
  textsOf([
    ['exists', ''],
    ...(signs.some(({ place }) => place === 'text')
      ? [['text', textContent(element).slice(0, ELEMENT_TEXT_MAX_LENGTH)] as const]
      : []),
    ...Object.entries(element.attribs).map(([name, value]) => [`attributes ${name}`, value] as const),
  ]);

/** Returns the certainty of the element that fits best. */
const certaintyOfDom = (
  { parts, signs }: ToolRule['dom'][number],
  document: Document,
  html: SearchedText,
): number => {
  const possible = parts.filter(({ literals }) => literals.every((literal) => html.has(literal)));
  if (possible.length === 0) return 0;
  const selector = possible.map(({ text }) => text).join(',');
  let elements: readonly Element[];
  try {
    elements = selectAll<AnyNode, Element>(selector, document).filter(isTag);
  } catch {
    // A selector that this library does not support.
    return 0;
  }
  return Math.max(0, ...elements.map((element) => certaintyOf(signs, textsOfElement(element, signs))));
};

/** Removes tools with unmet requirements, and excluded ones. */
const resolve = (found: readonly ToolRule[]): readonly ToolRule[] => {
  const names = new Set(found.map(({ name }) => name));
  const categories = new Set(found.flatMap(({ categoryIds }) => categoryIds));
  const met = found.filter(
    ({ requires, requiresCategories }) =>
      requires.every((name) => names.has(name)) && requiresCategories.every((id) => categories.has(id)),
  );
  if (met.length < found.length) return resolve(met);
  const excluded = new Set(met.flatMap(({ excludes }) => excludes));
  return met.filter(({ name }) => !excluded.has(name));
};

/** Yields intermediate results, from the fastest signs to the slowest, so that a timeout keeps the earlier ones. */
export function* matchTools(rules: readonly ToolRule[], page: ScannedPage): Generator<readonly ToolRule[]> {
  const certainty = new Map<ToolRule, number>();
  const addAll = (percentOf: (rule: ToolRule) => number): readonly ToolRule[] => {
    for (const rule of rules) {
      const percent = percentOf(rule);
      if (percent > 0) certainty.set(rule, (certainty.get(rule) ?? 0) + percent);
    }
    return resolve([...certainty].flatMap(([rule, percent]) => (percent >= DETECTED_PERCENT ? [rule] : [])));
  };
  const { texts, text } = readPage(page);
  yield addAll(({ signs }) => certaintyOf(signs, texts));
  const html = searchedText(page.html);
  const whole: Texts = new Map([
    ['html', [html]],
    ['text', [searchedText(text)]],
  ]);
  yield addAll(({ pageSigns }) => certaintyOf(pageSigns, whole));
  const document = parseDocument(page.html);
  yield addAll(({ dom }) => dom.reduce((sum, one) => sum + certaintyOfDom(one, document, html), 0));
}
