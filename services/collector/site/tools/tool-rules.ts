import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type JsonObject, isObject, objectAt } from '#domain/shapes/json-object.ts';
import { type Pattern, compilePattern } from './pattern.ts';
import { SHOP_TOOLS } from './shop-tools.ts';

/** `literals`: texts that a page must contain for a match. */
export type SelectorPart = { readonly text: string; readonly literals: readonly string[] };

/** Attribute values without character references; a page may write others differently. */
const PLAIN_VALUE = /^[\w./:#?=@%+~ -]{3,}$/;
const QUOTED = /'([^']*)'|"([^"]*)"/g;
/** Names of classes, ids and attributes. */
const NAMES = /[.#[]\s*([\w-]{3,})/g;

const split = (selector: string): readonly string[] => {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  let quote: string | null = null;
  for (const sign of selector) {
    if (quote !== null) quote = sign === quote ? null : quote;
    else if (sign === "'" || sign === '"') quote = sign;
    else if (sign === '[' || sign === '(') depth += 1;
    else if (sign === ']' || sign === ')') depth -= 1;
    if (sign === ',' && depth === 0 && quote === null) {
      parts.push(part);
      part = '';
    } else part += sign;
  }
  return [...parts, part].map((one) => one.trim()).filter((one) => one !== '');
};

const literalsOf = (text: string): readonly string[] => {
  const names = text.replace(QUOTED, '');
  // `:not(…)` names texts that need not occur, and a backslash escapes part of a name.
  if (/[:\\]/.test(names)) return [];
  const values = [...text.matchAll(QUOTED)].map(([, single, double]) => single ?? double ?? '');
  return [
    ...values.filter((value) => PLAIN_VALUE.test(value)),
    ...[...names.matchAll(NAMES)].map(([, name]) => name ?? ''),
  ].map((literal) => literal.toLowerCase());
};

export const selectorParts = (selector: string): readonly SelectorPart[] =>
  split(selector).map((text) => ({ text, literals: literalsOf(text) }));

export type DomRule = {
  readonly parts: readonly SelectorPart[];
  /** Tests of an element: presence, text or an attribute. */
  readonly exists: Pattern | null;
  readonly text: Pattern | null;
  readonly attributes: readonly (readonly [name: string, pattern: Pattern])[];
};

type Named = readonly (readonly [name: string, pattern: Pattern])[];

export type ToolRule = {
  readonly name: string;
  readonly category: string;
  readonly categoryIds: readonly number[];
  readonly website: string | null;
  readonly headers: Named;
  readonly cookies: Named;
  readonly meta: Named;
  readonly scriptSrc: readonly Pattern[];
  readonly scripts: readonly Pattern[];
  readonly html: readonly Pattern[];
  readonly text: readonly Pattern[];
  readonly url: readonly Pattern[];
  readonly dom: readonly DomRule[];
  /** Tools and category ids that must be detected too. */
  readonly requires: readonly string[];
  readonly requiresCategories: readonly number[];
  readonly excludes: readonly string[];
};

export type RuleSet = { readonly rules: readonly ToolRule[]; readonly faults: readonly string[] };

const UNCATEGORIZED = 'Other';

const listOf = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? (value as unknown[]) : [value];

/** Removes tags such as `\\;confidence:50`. */
const namesOf = (value: unknown): readonly string[] =>
  listOf(value).flatMap((item) => (typeof item === 'string' ? [item.split('\\;')[0] as string] : []));

const numbersOf = (value: unknown): readonly number[] => listOf(value).map(Number).filter(Number.isInteger);

/** Omits signs that need a browser (`js`, `xhr`, `css`, `dns`) and invalid patterns, which `faults` names. */
export const readToolRules = (tools: JsonObject, categories: JsonObject): RuleSet => {
  const faults: string[] = [];
  const patternsOf = (tool: string, value: unknown): readonly Pattern[] =>
    listOf(value).flatMap((source) => {
      if (typeof source !== 'string' && typeof source !== 'number') return [];
      const pattern = compilePattern(String(source));
      if (pattern === null) faults.push(`${tool}: ${String(source).slice(0, 100)}`);
      return pattern === null ? [] : [pattern];
    });
  const namedOf = (tool: string, value: unknown): Named =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, source]) =>
          patternsOf(tool, source).map((pattern) => [name.toLowerCase(), pattern] as const),
        )
      : [];
  const domOf = (tool: string, value: unknown): readonly DomRule[] => {
    const entries = isObject(value)
      ? Object.entries(value)
      : listOf(value).flatMap((selector) =>
          typeof selector === 'string' ? [[selector, { exists: '' }] as const] : [],
        );
    return entries.flatMap(([selector, signs]) =>
      listOf(signs)
        .filter(isObject)
        .map((sign) => ({
          parts: selectorParts(selector),
          exists: patternsOf(tool, sign['exists'])[0] ?? null,
          text: patternsOf(tool, sign['text'])[0] ?? null,
          attributes: namedOf(tool, sign['attributes']),
        }))
        .filter(({ exists, text, attributes }) => exists !== null || text !== null || attributes.length > 0),
    );
  };
  const categoryName = (id: number | undefined): string => {
    const { name } = objectAt(categories, String(id));
    return typeof name === 'string' && name !== '' ? name : UNCATEGORIZED;
  };
  const ruleOf = (name: string, tool: JsonObject): ToolRule => {
    const categoryIds = numbersOf(tool['cats']);
    const { website } = tool;
    return {
      name,
      category: categoryName(categoryIds[0]),
      categoryIds,
      website:
        typeof website === 'string' && /^https?:/.test(website) && URL.canParse(website) ? website : null,
      headers: namedOf(name, tool['headers']),
      cookies: namedOf(name, tool['cookies']),
      meta: namedOf(name, tool['meta']),
      scriptSrc: patternsOf(name, tool['scriptSrc']),
      scripts: patternsOf(name, tool['scripts']),
      html: patternsOf(name, tool['html']),
      text: patternsOf(name, tool['text']),
      url: patternsOf(name, tool['url']),
      dom: domOf(name, tool['dom']),
      requires: namesOf(tool['requires']),
      requiresCategories: numbersOf(tool['requiresCategory']),
      excludes: namesOf(tool['excludes']),
    };
  };
  const rules = Object.entries(tools).flatMap(([name, tool]) => (isObject(tool) ? [ruleOf(name, tool)] : []));
  return { rules, faults };
};

const readJson = (path: string): JsonObject => {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isObject(value)) throw new Error(`${path} is not an object of JSON.`);
  return value;
};

/** MIT-licensed rules of `wappalyzer`; later versions have other licences. */
const packageFolder = (): string =>
  dirname(createRequire(import.meta.url).resolve('wappalyzer/package.json'));

/**
 * `null` reads the package's rules. Adds the rules of `shop-tools.ts` and merges equal tools. Throws without rule
 * files.
 */
export const loadToolRules = (folder: string | null): RuleSet => {
  const root = folder ?? packageFolder();
  const files = readdirSync(join(root, 'technologies')).filter((file) => file.endsWith('.json'));
  if (files.length === 0) throw new Error(`${join(root, 'technologies')} has no rules (*.json).`);
  const foreign: JsonObject = Object.assign(
    {},
    ...files.toSorted().map((file) => readJson(join(root, 'technologies', file))),
  );
  const own = Object.entries(SHOP_TOOLS).map(([name, tool]) => {
    const known = objectAt(foreign, name);
    return [name, { ...tool, ...known, scriptSrc: [...listOf(known['scriptSrc']), ...tool.scriptSrc] }];
  });
  return readToolRules({ ...foreign, ...Object.fromEntries(own) }, readJson(join(root, 'categories.json')));
};
