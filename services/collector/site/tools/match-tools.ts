import { selectAll } from 'css-select';
import { type AnyNode, type Document, type Element, isTag } from 'domhandler';
import { textContent } from 'domutils';
import { parseDocument, Parser } from 'htmlparser2';
import {
  type DomRule,
  type Pattern,
  type SearchedText,
  type ToolRule,
  matches,
  searchedText,
} from './tool-rules.ts';

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

type Signs = {
  readonly meta: ReadonlyMap<string, readonly string[]>;
  readonly sources: readonly string[];
  readonly scripts: readonly string[];
  readonly text: string;
};

/** Signs that need no element tree. */
const readSigns = (html: string): Signs => {
  const meta = new Map<string, string[]>();
  const sources: string[] = [];
  const scripts: string[] = [];
  const texts: string[] = [];
  let open: 'script' | 'style' | null = null;
  let script = '';
  const parser = new Parser(
    {
      onopentag: (element, { name, property, content, src, rel, as, href }) => {
        const key = (name ?? property)?.toLowerCase();
        if (element === 'meta' && key !== undefined) meta.set(key, [...(meta.get(key) ?? []), content ?? '']);
        if (element === 'script' || element === 'style') open = element;
        if (element === 'script' && src !== undefined) sources.push(src);
        // Links name scripts that are preloaded.
        if (element === 'link' && href !== undefined && (as === 'script' || rel === 'modulepreload'))
          sources.push(href);
      },
      ontext: (text) => {
        if (open === 'script' && script.length < SCRIPT_MAX_LENGTH) script += text;
        if (open === null) texts.push(text);
      },
      onclosetag: (element) => {
        if (element !== 'script' && element !== 'style') return;
        if (script !== '') scripts.push(script);
        script = '';
        open = null;
      },
    },
    { decodeEntities: true },
  );
  parser.write(html);
  parser.end();
  return { meta, sources, scripts, text: texts.join(' ').replace(/\s+/g, ' ') };
};

/** Sums the certainty of all matching patterns. */
const certaintyOf = (patterns: readonly Pattern[], texts: readonly SearchedText[]): number =>
  patterns.reduce(
    (sum, pattern) => (texts.some((text) => matches(pattern, text)) ? sum + pattern.confidence : sum),
    0,
  );

const certaintyOfNamed = (
  named: readonly (readonly [string, Pattern])[],
  valuesOf: (name: string) => readonly string[],
): number =>
  named.reduce((sum, [name, pattern]) => sum + certaintyOf([pattern], valuesOf(name).map(searchedText)), 0);

const certaintyOfElement = (rule: DomRule, element: Element): number => {
  const { exists, text, attributes } = rule;
  let sum = exists?.confidence ?? 0;
  if (text !== null)
    sum += certaintyOf([text], [searchedText(textContent(element).slice(0, ELEMENT_TEXT_MAX_LENGTH))]);
  for (const [name, pattern] of attributes) {
    const value = element.attribs[name];
    if (value !== undefined) sum += certaintyOf([pattern], [searchedText(value)]);
  }
  return sum;
};

/** Returns the certainty of the element that fits best. */
const certaintyOfDom = (rule: DomRule, document: Document, html: SearchedText): number => {
  const parts = rule.parts
    .filter(({ literals }) => literals.every((literal) => html.has(literal)))
    .map(({ text }) => text);
  if (parts.length === 0) return 0;
  let elements: readonly Element[];
  try {
    elements = selectAll<AnyNode, Element>(parts.join(','), document).filter(isTag);
  } catch {
    // A selector that this library does not support.
    return 0;
  }
  return elements.reduce((best, element) => Math.max(best, certaintyOfElement(rule, element)), 0);
};

/** Removes tools with unmet requirements, and excluded ones. */
const resolve = (found: ReadonlySet<ToolRule>): readonly ToolRule[] => {
  let kept = [...found];
  for (;;) {
    const names = new Set(kept.map(({ name }) => name));
    const categories = new Set(kept.flatMap(({ categoryIds }) => categoryIds));
    const met = kept.filter(
      ({ requires, requiresCategories }) =>
        requires.every((name) => names.has(name)) && requiresCategories.every((id) => categories.has(id)),
    );
    if (met.length === kept.length) break;
    kept = met;
  }
  const excluded = new Set(kept.flatMap(({ excludes }) => excludes));
  return kept.filter(({ name }) => !excluded.has(name));
};

/** Yields intermediate results, from the fastest signs to the slowest, so that a timeout keeps the earlier ones. */
export function* matchTools(
  rules: readonly ToolRule[],
  { url, html, headers, cookies }: ScannedPage,
): Generator<readonly ToolRule[]> {
  const certainty = new Map<ToolRule, number>();
  const add = (rule: ToolRule, percent: number): void => {
    if (percent > 0) certainty.set(rule, (certainty.get(rule) ?? 0) + percent);
  };
  const detected = (): readonly ToolRule[] =>
    resolve(
      new Set([...certainty].filter(([, percent]) => percent >= DETECTED_PERCENT).map(([rule]) => rule)),
    );
  const signs = readSigns(html);
  const address = [searchedText(url)];
  const sources = signs.sources.map(searchedText);
  const scripts = signs.scripts.map(searchedText);
  for (const rule of rules) {
    add(rule, certaintyOf(rule.url, address));
    add(rule, certaintyOf(rule.scriptSrc, sources));
    add(rule, certaintyOf(rule.scripts, scripts));
    add(
      rule,
      certaintyOfNamed(rule.meta, (name) => signs.meta.get(name) ?? []),
    );
    add(
      rule,
      certaintyOfNamed(rule.headers, (name) => [headers[name] ?? []].flat()),
    );
    add(
      rule,
      certaintyOfNamed(rule.cookies, (name) => [cookies[name] ?? []].flat()),
    );
  }
  yield detected();
  const whole = searchedText(html);
  const text = [searchedText(signs.text)];
  for (const rule of rules) {
    add(rule, certaintyOf(rule.html, [whole]));
    add(rule, certaintyOf(rule.text, text));
  }
  yield detected();
  const document = parseDocument(html);
  for (const rule of rules) {
    add(
      rule,
      rule.dom.reduce((sum, one) => sum + certaintyOfDom(one, document, whole), 0),
    );
  }
  yield detected();
}
