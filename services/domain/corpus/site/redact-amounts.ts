import type { SplitTestType } from '#contracts/observations/site-scan.ts';

/**
 * Names of tests have amounts, such as `Price $49`. Prices and shipping are never served (specification, row
 * "split-tests"), so they are removed before anything is recorded.
 */

const REDACTED = '…';

const NO_LETTER_BEFORE = String.raw`(?<!\p{L})`;
const NO_LETTER_AFTER = String.raw`(?!\p{L})`;
const word = (words: readonly string[]): string =>
  `${NO_LETTER_BEFORE}(?:${words.join('|')})${NO_LETTER_AFTER}`;

/** Without codes that are common words, such as `ALL`, `TOP` and `TRY`. */
const CURRENCY_WORDS = [
  'usd|eur|gbp|cad|aud|nzd|inr|chf|sek|nok|dkk|isk|jpy|cny|rmb|krw|pln|czk|huf|ron|bgn|uah|rub',
  'brl|mxn|clp|cop|ars|zar|ngn|kes|egp|aed|sar|qar|ils|hkd|sgd|twd|thb|idr|php|myr|vnd|pkr|bdt|lkr',
  'dollars?|euros?|pounds?|bucks|cents?|pence|quid|rupees?|yen|yuan|francs?|kron(?:a|e|or|er)|pesos?|reais|zloty|złoty',
  'dirhams?|rand|riyals?|shekels?|rubles?|lira|baht|zł|kč|lei|tl|kr\\.?|rs\\.?|руб\\.?|грн\\.?',
];
/** A sign, with the letters of `US$` and `R$`, or a code or word. */
const CURRENCY = String.raw`(?:(?:${NO_LETTER_BEFORE}\p{Lu}{1,3})?\p{Sc}|${word(CURRENCY_WORDS)})`;

/** With separators: `1,299.00`, `1 299`, `1'299`. */
const ONE_NUMBER = String.raw`\p{Nd}(?:[\p{Nd}.,'’]*\p{Nd})?(?:[ \u00a0\u202f]\p{Nd}{3}(?!\p{Nd}))*`;
const MULTIPLIER = String.raw`(?:\s?(?:k|m|mn|mio|million|thousand)${NO_LETTER_AFTER})?`;
const NO_CENTS = String.raw`(?:[.,][-–—]{1,2})`;
/** A number or range: `10`, `10-20`, `49/59`. */
const NUMBERS = String.raw`${ONE_NUMBER}${MULTIPLIER}(?:\s?[-–—/]\s?${ONE_NUMBER}${MULTIPLIER})*`;

/** Directly before or after a currency, or with the dash for no cents. */
const AMOUNT = new RegExp(
  `${CURRENCY}\\s*${NUMBERS}${NO_CENTS}?(?:\\s*[-–—/]?\\s*${CURRENCY})?|${NUMBERS}${NO_CENTS}?\\s*${CURRENCY}|${NUMBERS}${NO_CENTS}`,
  'giu',
);
/** In a test of amounts every number may be one. */
const NUMBER = new RegExp(
  `(?:[-+±]\\s?)?(?:${CURRENCY}\\s*)?${NUMBERS}${NO_CENTS}?(?:\\s?(?:%|${CURRENCY}))?`,
  'giu',
);
/** Except a percentage. */
const PLAIN_NUMBER = new RegExp(`${NUMBERS}(?![\\p{Nd}.,]*\\s?%)`, 'giu');
/** A number in such a name is an amount even without a currency. */
const ABOUT_AMOUNTS = new RegExp(
  word([
    'pric(?:e|es|ed|ing)',
    'costs?',
    'shipping',
    'postage',
    'fees?',
    'thresholds?',
    'spend',
    'save',
    'off',
  ]),
  'iu',
);
/** `Variant 2`: the number only identifies the arm. Without such a word it may be an amount. */
const NUMBERED_ARM =
  /^(?:variant|variation|version|arm|group|treatment|test|control|option)\s*#?\s*\d{1,2}$/i;

/** Types of tests in which every number is removed. */
const TESTS_OF_AMOUNTS: readonly SplitTestType[] = ['price', 'shipping', 'offer'];

/** A name about amounts keeps only percentages. `nameOfTest`: `49` is an amount in a test named `Price`. */
export const redactAmounts = (
  name: string,
  type: SplitTestType,
  nameOfTest: string | null = null,
): string => {
  if (NUMBERED_ARM.test(name.trim())) return name;
  if (TESTS_OF_AMOUNTS.includes(type)) return name.replace(NUMBER, REDACTED);
  const redacted = redactStatedAmounts(name);
  const isAboutAmounts =
    redacted !== name || ABOUT_AMOUNTS.test(name) || (nameOfTest !== null && ABOUT_AMOUNTS.test(nameOfTest));
  return isAboutAmounts ? redacted.replace(PLAIN_NUMBER, REDACTED) : redacted;
};

/** For a text such as a tool's own id of a test. */
export const redactStatedAmounts = (text: string): string => text.replace(AMOUNT, REDACTED);
