import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type JsonObject, isObject, objectAt } from '#domain/shapes/json-object.ts';

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

/**
 * Longest literal in every match, lower case; `null` below three characters. A text search is far faster than a
 * pattern.
 */
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

export type SearchedText = {
  readonly text: string;
  has(literal: string): boolean;
};

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

/** Shop tools that the package lacks. Signs: the vendor's script host, or the extension name in script URLs. */

const [REVIEWS, PERSONALISATION, AB_TESTING, EMAIL, LOYALTY, SUBSCRIPTIONS] = [90, 76, 74, 75, 84, 6];
const [ANALYTICS, SHIPPING, CHAT, CONSENT, SEARCH, PAGE_BUILDER] = [10, 99, 52, 67, 29, 51];
const [ADVERTISING, RETURNS, SURVEYS, AFFILIATE, VIDEO, UPSELL] = [36, 102, 73, 71, 14, 100];

type ShopTool = { readonly cats: readonly number[]; readonly website: string; readonly scriptSrc: string[] };

const shopTool = (
  category: number,
  website: string,
  hosts: readonly string[],
  extensions: readonly string[] = [],
): ShopTool => ({
  cats: [category],
  website,
  scriptSrc: [
    ...hosts.map((host) => `(?:^|//|\\.)${host.replaceAll('.', '\\.')}(?:[/:?]|$)`),
    ...extensions.map((name) => `/extensions/[\\w-]+/(?:[\\w.-]+/)?${name}(?:-[\\w.]+)?/assets/`),
  ],
});

export const SHOP_TOOLS: Readonly<Record<string, ShopTool>> = {
  Intelligems: shopTool(AB_TESTING, 'https://www.intelligems.io', ['intelligems.io'], ['intelligems']),
  Shoplift: shopTool(AB_TESTING, 'https://www.shoplift.ai', ['shoplift.ai'], ['shoplift']),
  Visually: shopTool(AB_TESTING, 'https://visually.io', ['visually.io', 'visually-io.com'], ['visually']),
  'Elevate A/B Testing': shopTool(
    AB_TESTING,
    'https://elevateab.com',
    ['elevateab.com'],
    ['elevate-ab', 'elevate-ab-testing'],
  ),
  ABConvert: shopTool(AB_TESTING, 'https://www.abconvert.io', ['abconvert.io'], ['abconvert']),
  GrowthBook: shopTool(AB_TESTING, 'https://www.growthbook.io', ['cdn.growthbook.io']),
  Statsig: shopTool(AB_TESTING, 'https://www.statsig.com', ['statsig.com', 'statsigapi.net']),
  Mida: shopTool(AB_TESTING, 'https://www.mida.so', ['cdn.mida.so']),
  'Webtrends Optimize': shopTool(AB_TESTING, 'https://www.webtrends-optimize.com', [
    'webtrends-optimize.com',
  ]),
  Personizely: shopTool(PERSONALISATION, 'https://www.personizely.net', ['personizely.net'], ['personizely']),
  'Stay AI': shopTool(
    SUBSCRIPTIONS,
    'https://stay.ai',
    ['stay.ai', 'retextion.com'],
    ['stay-ai', 'retextion'],
  ),
  Ordergroove: shopTool(SUBSCRIPTIONS, 'https://www.ordergroove.com', ['ordergroove.com'], ['ordergroove']),
  Smartrr: shopTool(SUBSCRIPTIONS, 'https://smartrr.com', ['smartrr.com'], ['smartrr']),
  Awtomic: shopTool(SUBSCRIPTIONS, 'https://www.awtomic.com', ['awtomic.com'], ['awtomic']),
  Appstle: shopTool(
    SUBSCRIPTIONS,
    'https://appstle.com',
    ['appstle.com'],
    ['appstle-subscriptions', 'appstle'],
  ),
  'Loop Subscriptions': shopTool(
    SUBSCRIPTIONS,
    'https://www.loopwork.co',
    ['loopwork.co', 'loopsubscriptions.com'],
    ['loop-subscriptions'],
  ),
  'Recharge Bundles': shopTool(
    SUBSCRIPTIONS,
    'https://getrecharge.com',
    ['bundles.rechargeapps.com'],
    ['recharge-bundles'],
  ),
  'Triple Whale': shopTool(
    ANALYTICS,
    'https://www.triplewhale.com',
    ['triplewhale.com', 'config-security.com', 'triplewhale-pixel.web.app'],
    ['triplewhale', 'triple-pixel'],
  ),
  Northbeam: shopTool(ANALYTICS, 'https://www.northbeam.io', ['northbeam.io']),
  'Polar Analytics': shopTool(
    ANALYTICS,
    'https://www.polaranalytics.com',
    ['polaranalytics.com', 'polaranalytics.co'],
    ['polar-analytics', 'polar-pixel'],
  ),
  Elevar: shopTool(ANALYTICS, 'https://www.getelevar.com', ['getelevar.com'], ['elevar']),
  Littledata: shopTool(ANALYTICS, 'https://www.littledata.io', ['littledata.io'], ['littledata']),
  Blotout: shopTool(ANALYTICS, 'https://www.blotout.io', ['blotout.io', 'edgetag.io'], ['edgetag']),
  Heatmap: shopTool(ANALYTICS, 'https://www.heatmap.com', ['heatmap.com']),
  Stape: shopTool(ANALYTICS, 'https://stape.io', ['stape.io', 'stape.net'], ['stape']),
  Podscribe: shopTool(ANALYTICS, 'https://podscribe.com', ['podscribe.com', 'd34r8q7sht0t9k.cloudfront.net']),
  Hyros: shopTool(ANALYTICS, 'https://hyros.com', ['hyros.com']),
  'Wicked Reports': shopTool(ANALYTICS, 'https://www.wickedreports.com', ['wickedreports.com']),
  Lifesight: shopTool(ANALYTICS, 'https://lifesight.io', ['lifesight.io']),
  'AppLovin Axon': shopTool(ADVERTISING, 'https://www.applovin.com', ['applovin.com', 'axon.ai']),
  Vibe: shopTool(ADVERTISING, 'https://www.vibe.co', ['vibe.co']),
  MNTN: shopTool(ADVERTISING, 'https://mountain.com', ['dx.mountain.com']),
  Postie: shopTool(ADVERTISING, 'https://www.postie.com', ['postie.com']),
  PostPilot: shopTool(ADVERTISING, 'https://www.postpilot.com', ['postpilot.com'], ['postpilot']),
  Fairing: shopTool(SURVEYS, 'https://fairing.co', ['fairing.co', 'enquirelabs.com'], ['fairing']),
  KnoCommerce: shopTool(
    SURVEYS,
    'https://knocommerce.com',
    ['knocommerce.com'],
    ['knocommerce', 'kno-post-purchase-survey'],
  ),
  Jebbit: shopTool(SURVEYS, 'https://www.jebbit.com', ['jebbit.com']),
  Digioh: shopTool(SURVEYS, 'https://www.digioh.com', ['digioh.com', 'lightboxcdn.com']),
  Sendlane: shopTool(EMAIL, 'https://www.sendlane.com', ['sendlane.com'], ['sendlane']),
  Alia: shopTool(EMAIL, 'https://www.alialearn.com', ['alialearn.com', 'aliapopups.com'], ['alia-popups']),
  Amped: shopTool(EMAIL, 'https://www.amped.io', ['amped.io', 'ampedcdn.com'], ['amped']),
  'Retention.com': shopTool(EMAIL, 'https://www.retention.com', ['retention.com']),
  'Black Crow AI': shopTool(EMAIL, 'https://www.blackcrow.ai', ['blackcrow.ai'], ['black-crow', 'blackcrow']),
  Okendo: shopTool(REVIEWS, 'https://okendo.io', ['okendo.io'], ['okendo']),
  'Reviews.io': shopTool(REVIEWS, 'https://www.reviews.io', ['reviews.io', 'reviews.co.uk'], ['reviews-io']),
  'Judge.me Extension': shopTool(REVIEWS, 'https://judge.me', ['cdnwidget.judge.me'], ['judge-me-reviews']),
  Videowise: shopTool(VIDEO, 'https://videowise.com', ['videowise.com', 'reeview.app'], ['videowise']),
  Tolstoy: shopTool(
    VIDEO,
    'https://www.gotolstoy.com',
    ['gotolstoy.com'],
    ['tolstoy', 'tolstoy-shoppable-video-quiz'],
  ),
  Firework: shopTool(VIDEO, 'https://firework.com', [
    'fwcdn1.com',
    'fwcdn2.com',
    'fwcdn3.com',
    'fireworktv.com',
  ]),
  Aftersell: shopTool(UPSELL, 'https://www.aftersell.com', ['aftersell.com', 'aftersell.app'], ['aftersell']),
  'Kaching Bundles': shopTool(
    UPSELL,
    'https://kachingbundles.com',
    ['kachingappz.app', 'kaching-bundles.com'],
    ['kaching-bundles', 'kaching'],
  ),
  BOGOS: shopTool(UPSELL, 'https://www.bogos.io', ['bogos.io'], ['bogos']),
  Wiser: shopTool(UPSELL, 'https://expertvillagemedia.com', ['wiser.expertvillagemedia.com']),
  UpCart: shopTool(
    UPSELL,
    'https://upcart.app',
    ['upcart.app', 'upcart.io'],
    ['upcart', 'upcart-cart-drawer'],
  ),
  Monk: shopTool(UPSELL, 'https://www.monkcommerce.com', ['monkcommerce.com'], ['monk-free-gift']),
  Rivo: shopTool(LOYALTY, 'https://www.rivo.io', ['rivo.io'], ['rivo']),
  Inveterate: shopTool(LOYALTY, 'https://www.inveterate.com', ['inveterate.com'], ['inveterate']),
  Superfiliate: shopTool(
    AFFILIATE,
    'https://www.superfiliate.com',
    ['superfiliate.com', 'superfiliate-cdn.com'],
    ['superfiliate'],
  ),
  UpPromote: shopTool(AFFILIATE, 'https://uppromote.com', ['uppromote.com'], ['uppromote']),
  'Social Snowball': shopTool(
    AFFILIATE,
    'https://socialsnowball.io',
    ['socialsnowball.io'],
    ['social-snowball'],
  ),
  AfterShip: shopTool(SHIPPING, 'https://www.aftership.com', ['aftership.com'], ['aftership']),
  Corso: shopTool(SHIPPING, 'https://corso.com', ['corso.com'], ['corso']),
  Navidium: shopTool(
    SHIPPING,
    'https://navidiumapp.com',
    ['navidiumapp.com', 'navidium-static-assets.s3.amazonaws.com'],
    ['navidium'],
  ),
  Redo: shopTool(RETURNS, 'https://www.getredo.com', ['getredo.com']),
  'Loop Returns': shopTool(
    RETURNS,
    'https://www.loopreturns.com',
    ['loopreturns.com'],
    ['loop-returns', 'loop-onstore'],
  ),
  Gorgias: shopTool(
    CHAT,
    'https://www.gorgias.com',
    ['gorgias.chat', 'gorgias-convert.com', 'gorgias.io'],
    ['gorgias'],
  ),
  'Rep AI': shopTool(CHAT, 'https://www.hellorep.ai', ['hellorep.ai'], ['rep-ai']),
  Siena: shopTool(CHAT, 'https://www.siena.cx', ['siena.cx']),
  Pandectes: shopTool(CONSENT, 'https://pandectes.io', ['pandectes.io'], ['pandectes']),
  Consentmo: shopTool(
    CONSENT,
    'https://www.consentmo.com',
    ['consentmo.com'],
    ['consentmo', 'consentmo-gdpr'],
  ),
  'Boost Commerce': shopTool(
    SEARCH,
    'https://boostcommerce.net',
    ['bc-solutions.net', 'boostcommerce.net', 'boostcommerce.io'],
    ['boost-sd'],
  ),
  Replo: shopTool(PAGE_BUILDER, 'https://www.replo.app', ['replo.app'], ['replo']),
  Instant: shopTool(PAGE_BUILDER, 'https://instant.so', ['instant.so', 'instantcommerce.io']),
  Shogun: shopTool(
    PAGE_BUILDER,
    'https://getshogun.com',
    ['getshogun.com', 'shgcdn.com', 'shgcdn2.com', 'shgcdn3.com'],
    ['shogun'],
  ),
};

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
