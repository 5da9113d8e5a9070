import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { mapValues } from 'es-toolkit/object/mapValues';
import { type JsonObject, isObject, objectAt } from '#domain/shapes/json-object.ts';
import shopTools from './shop-tools.json' with { type: 'json' };

const CONFIDENCE_DEFAULT = 100;
/** Limit of unlimited quantifiers, so that no pattern reads a whole page at each position. */
const REPETITIONS_MAX = 250;
/** Shorter literals rarely rule a text out. */
const LITERAL_MIN_LENGTH = 3;

export type Pattern = {
  readonly regex: RegExp;
  /** Percent that a match adds to the certainty. */
  readonly confidence: number;
  /** Lower-case text in every match; `null` when unknown. */
  readonly literal: string | null;
};

const limitQuantifiers = (source: string): string => {
  let limited = '';
  let isClass = false;
  for (let at = 0; at < source.length; at += 1) {
    const sign = source[at] as string;
    if (sign === '\\') {
      limited += sign + (source[at + 1] ?? '');
      at += 1;
    } else if (!isClass && (sign === '*' || sign === '+')) {
      limited += `{${sign === '*' ? 0 : 1},${REPETITIONS_MAX}}`;
    } else {
      if (sign === '[') isClass = true;
      if (sign === ']') isClass = false;
      limited += sign;
    }
  }
  return limited;
};

/** Index after a group or class that begins at `from`. */
const endOfBracket = (source: string, from: number): number => {
  let depth = 0;
  let isClass = false;
  for (let at = from; at < source.length; at += 1) {
    const sign = source[at];
    if (sign === '\\') at += 1;
    else if (isClass) isClass = sign !== ']';
    else if (sign === '[') isClass = true;
    else if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    if (depth === 0 && !isClass) return at + 1;
  }
  return source.length;
};

/** Longest literal in every match, lower case; `null` below three characters. Text search is faster than a pattern. */
export const literalOf = (source: string): string | null => {
  const runs: string[] = [];
  let run = '';
  const endRun = (): void => {
    runs.push(run);
    run = '';
  };
  for (let at = 0; at < source.length; ) {
    const sign = source[at] as string;
    if (sign === '|') return null;
    if (sign === '(' || sign === '[') {
      endRun();
      at = endOfBracket(source, at);
      continue;
    }
    if (sign === '*' || sign === '?' || sign === '{') {
      // The previous character is optional.
      run = run.slice(0, -1);
      endRun();
      at = sign === '{' ? Math.max(source.indexOf('}', at) + 1, at + 1) : at + 1;
      continue;
    }
    if (sign === '\\') {
      const escaped = source[at + 1] ?? '';
      if (/[^\w]/.test(escaped)) run += escaped;
      else endRun();
      at += 2;
      // A class such as \d ended the run, so its quantifier removes nothing.
      continue;
    }
    if (sign === '+' || sign === '.' || sign === '^' || sign === '$') endRun();
    else run += sign;
    at += 1;
  }
  endRun();
  const longest = runs.reduce((best, one) => (one.length > best.length ? one : best), '');
  return longest.length < LITERAL_MIN_LENGTH ? null : longest.toLowerCase();
};

/** Tags as in `jquery-([\d.]+)\.js\;version:\1\;confidence:50`; `null` when invalid. */
export const compilePattern = (text: string): Pattern | null => {
  const [source = '', ...tags] = text.split('\\;');
  const confidence = Number(tags.find((tag) => tag.startsWith('confidence:'))?.slice('confidence:'.length));
  try {
    return {
      regex: new RegExp(limitQuantifiers(source), 'i'),
      confidence: Number.isFinite(confidence) && confidence > 0 ? confidence : CONFIDENCE_DEFAULT,
      literal: literalOf(source),
    };
  } catch {
    return null;
  }
};

const INDEX_SIZE = 2 ** 18;
const INDEXED_MIN_LENGTH = 2_000;

export type SearchedText = { readonly text: string; has(literal: string): boolean };

const slotOf = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & (INDEX_SIZE - 1);

/** A long text gets a trigram index: most literals have a trigram that it lacks, and then need no search. */
export const searchedText = (text: string): SearchedText => {
  const lower = text.toLowerCase();
  if (lower.length < INDEXED_MIN_LENGTH) return { text, has: (literal) => lower.includes(literal) };
  const slots = new Uint8Array(INDEX_SIZE);
  for (let at = 0; at < lower.length - 2; at += 1) slots[slotOf(lower, at)] = 1;
  return {
    text,
    has: (literal) => {
      for (let at = 0; at < literal.length - 2; at += 1) if (slots[slotOf(literal, at)] === 0) return false;
      return lower.includes(literal);
    },
  };
};

export const matches = ({ regex, literal }: Pattern, searched: SearchedText): boolean =>
  (literal === null || searched.has(literal)) && regex.test(searched.text);

type ShopTool = {
  /** Id of the category in the package. */
  readonly category: number;
  readonly website: string;
  readonly hosts: readonly string[];
  readonly extensions?: readonly string[];
};

type ShopToolRule = JsonObject & { readonly scriptSrc: readonly string[] };

const shopToolRule = ({ category, website, hosts, extensions = [] }: ShopTool): ShopToolRule => ({
  cats: [category],
  website,
  scriptSrc: [
    ...hosts.map((host) => `(?:^|//|\\.)${host.replaceAll('.', '\\.')}(?:[/:?]|$)`),
    ...extensions.map((name) => `/extensions/[\\w-]+/(?:[\\w.-]+/)?${name}(?:-[\\w.]+)?/assets/`),
  ],
});

/** Tools that the package lacks. Signs: the vendor's script hosts, and extension names in script URLs. */
export const SHOP_TOOLS: Readonly<Record<string, ShopToolRule>> = mapValues(
  shopTools as Readonly<Record<string, ShopTool>>,
  shopToolRule,
);

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

/** `null`: the package's rules. Adds `shop-tools.json` and merges equal tools. Throws without rule files. */
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
