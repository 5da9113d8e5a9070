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

const ESCAPE_OR_CLASS = String.raw`\\[^]|\[(?:\\[^]|[^\]\\])*\]`;

const limitQuantifiers = (source: string): string =>
  source.replace(new RegExp(`${ESCAPE_OR_CLASS}|[*+]`, 'g'), (part) =>
    part === '*' || part === '+' ? `{${part === '*' ? 0 : 1},${REPETITIONS_MAX}}` : part,
  );

/** Stands for a class or group, whose text is not known. */
const UNKNOWN = '\u0000';

/** Longest literal in every match, lower case; `null` below three characters. Text search is faster than a pattern. */
export const literalOf = (source: string): string | null => {
  let rest = source.replace(new RegExp(ESCAPE_OR_CLASS, 'g'), (part) => (part[0] === '[' ? UNKNOWN : part));
  for (let outer = ''; outer !== rest; ) {
    outer = rest;
    rest = outer.replace(/\((?:\\[^]|[^()\\])*\)/g, UNKNOWN);
  }
  const runs = [''];
  for (const [, sign = '', quantifier] of rest.matchAll(/(\\[^]|[^])((?:[*?]|\{[^}]*\})\??)?/g)) {
    if (sign === '|') return null;
    const isText = quantifier === undefined && /^(?:\\\W|[^\\+.^$\0])$/.test(sign);
    if (isText) runs.push(`${runs.pop()}${sign.at(-1)}`);
    else runs.push('');
  }
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
      confidence: confidence > 0 ? confidence : CONFIDENCE_DEFAULT,
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

/** Tools that the package lacks. Signs: the vendor's script hosts, and extension names in script URLs. */
export const SHOP_TOOLS = mapValues(
  shopTools as Readonly<Record<string, ShopTool>>,
  ({ category, website, hosts, extensions = [] }) => ({
    cats: [category],
    website,
    scriptSrc: [
      ...hosts.map((host) => `(?:^|//|\\.)${host.replaceAll('.', '\\.')}(?:[/:?]|$)`),
      ...extensions.map((name) => `/extensions/[\\w-]+/(?:[\\w.-]+/)?${name}(?:-[\\w.]+)?/assets/`),
    ],
  }),
);

/** `literals`: texts that a page must contain for a match. */
export type SelectorPart = { readonly text: string; readonly literals: readonly string[] };

/** Attribute values without character references; a page may write others differently. */
const PLAIN_VALUE = /^[\w./:#?=@%+~ -]{3,}$/;
const QUOTED = /'([^']*)'|"([^"]*)"/g;
/** Names of classes, ids and attributes. */
const NAMES = /[.#[]\s*([\w-]{3,})/g;
const PART = /(?:'[^']*'|"[^"]*"|\[(?:'[^']*'|"[^"]*"|[^\]])*\]|\((?:'[^']*'|"[^"]*"|[^)])*\)|[^,])+/g;

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
  (selector.match(PART) ?? [])
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((text) => ({ text, literals: literalsOf(text) }));

/** `place`: a kind of sign, such as `html`, or kind and name, such as `headers server`. */
export type Sign = { readonly place: string; readonly pattern: Pattern };

export type ToolRule = {
  readonly name: string;
  readonly category: string;
  readonly categoryIds: readonly number[];
  readonly website: string | null;
  /** In the address, headers, cookies, meta elements and scripts. */
  readonly signs: readonly Sign[];
  /** In the whole page. */
  readonly pageSigns: readonly Sign[];
  /** Signs of an element: `exists`, its text and attributes. */
  readonly dom: readonly { readonly parts: readonly SelectorPart[]; readonly signs: readonly Sign[] }[];
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
  const signsOf = (tool: string, place: string, value: unknown): readonly Sign[] =>
    listOf(value).flatMap((source): readonly Sign[] => {
      if (isObject(source)) {
        return Object.entries(source).flatMap(([name, one]) =>
          signsOf(tool, `${place} ${name.toLowerCase()}`, one),
        );
      }
      if (typeof source !== 'string' && typeof source !== 'number') return [];
      const pattern = compilePattern(String(source));
      if (pattern === null) faults.push(`${tool}: ${String(source).slice(0, 100)}`);
      return pattern === null ? [] : [{ place, pattern }];
    });
  const domOf = (tool: string, value: unknown): ToolRule['dom'] =>
    listOf(value)
      .flatMap((one) =>
        Object.entries(typeof one === 'string' ? { [one]: { exists: '' } } : (one as JsonObject)),
      )
      .flatMap(([selector, tests]) => listOf(tests).map((test) => ({ selector, test })))
      .map(({ selector, test }) => ({
        parts: selectorParts(selector),
        signs: ['exists', 'text', 'attributes'].flatMap((place) =>
          isObject(test) ? signsOf(tool, place, test[place]) : [],
        ),
      }))
      .filter(({ signs }) => signs.length > 0);
  const ruleOf = (name: string, tool: JsonObject): ToolRule => {
    const categoryIds = numbersOf(tool['cats']);
    const { name: category } = objectAt(categories, String(categoryIds[0]));
    const { website } = tool;
    const inPlaces = (...places: readonly string[]): readonly Sign[] =>
      places.flatMap((place) => signsOf(name, place, tool[place]));
    return {
      name,
      category: typeof category === 'string' && category !== '' ? category : UNCATEGORIZED,
      categoryIds,
      website:
        typeof website === 'string' && /^https?:/.test(website) && URL.canParse(website) ? website : null,
      signs: inPlaces('url', 'scriptSrc', 'scripts', 'meta', 'headers', 'cookies'),
      pageSigns: inPlaces('html', 'text'),
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

/**
 * `null`: the MIT-licensed rules of `wappalyzer`; later versions have other licences. Adds `shop-tools.json` and merges
 * equal tools. Throws without rule files.
 */
export const loadToolRules = (folder: string | null): RuleSet => {
  const root = folder ?? dirname(createRequire(import.meta.url).resolve('wappalyzer/package.json'));
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
