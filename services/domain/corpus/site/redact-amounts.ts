import type { SplitTestType } from '#contracts/observations/site-scan.ts';

/**
 * Redaction of amounts in the names of split tests and their arms. People put amounts into these names: `Price $49`,
 * `Free shipping over 60 €`. Amounts of prices and shipping are never served (specification, row "split-tests"), so
 * they are removed before anything is recorded.
 */

/** Text that replaces an amount. */
const REDACTED = '…';

const NO_LETTER_BEFORE = String.raw`(?<!\p{L})`;
const NO_LETTER_AFTER = String.raw`(?!\p{L})`;
const word = (words: readonly string[]): string =>
  `${NO_LETTER_BEFORE}(?:${words.join('|')})${NO_LETTER_AFTER}`;

/** Codes and words of currencies. Codes that are common words, such as `ALL`, `TOP` and `TRY`, are left out. */
const CURRENCY_WORDS = [
  'usd|eur|gbp|cad|aud|nzd|inr|chf|sek|nok|dkk|isk|jpy|cny|rmb|krw|pln|czk|huf|ron|bgn|uah|rub',
  'brl|mxn|clp|cop|ars|zar|ngn|kes|egp|aed|sar|qar|ils|hkd|sgd|twd|thb|idr|php|myr|vnd|pkr|bdt|lkr',
  'dollars?|euros?|pounds?|bucks|cents?|pence|quid|rupees?|yen|yuan|francs?|kron(?:a|e|or|er)|pesos?|reais|zloty|złoty',
  'dirhams?|rand|riyals?|shekels?|rubles?|lira|baht|zł|kč|lei|tl|kr\\.?|rs\\.?|руб\\.?|грн\\.?',
];
/** A currency: a sign, with the letters of `US$` and `R$`, or a code or word. */
const CURRENCY = String.raw`(?:(?:${NO_LETTER_BEFORE}\p{Lu}{1,3})?\p{Sc}|${word(CURRENCY_WORDS)})`;

/** One number, with separators of thousands and decimals: `1,299.00`, `1 299`, `1'299`. */
const ONE_NUMBER = String.raw`\p{Nd}(?:[\p{Nd}.,'’]*\p{Nd})?(?:[ \u00a0\u202f]\p{Nd}{3}(?!\p{Nd}))*`;
const MULTIPLIER = String.raw`(?:\s?(?:k|m|mn|mio|million|thousand)${NO_LETTER_AFTER})?`;
/** The dash that stands for no cents: `49,-`. */
const NO_CENTS = String.raw`(?:[.,][-–—]{1,2})`;
/** A number or a range of numbers: `10`, `10-20`, `49/59`. */
const NUMBERS = String.raw`${ONE_NUMBER}${MULTIPLIER}(?:\s?[-–—/]\s?${ONE_NUMBER}${MULTIPLIER})*`;

/** A number directly before or after a currency, or with the dash for no cents. */
const AMOUNT = new RegExp(
  `${CURRENCY}\\s*${NUMBERS}${NO_CENTS}?(?:\\s*[-–—/]?\\s*${CURRENCY})?|${NUMBERS}${NO_CENTS}?\\s*${CURRENCY}|${NUMBERS}${NO_CENTS}`,
  'giu',
);
/** Any number with its sign and unit. In a test of amounts every number may be one. */
const NUMBER = new RegExp(
  `(?:[-+±]\\s?)?(?:${CURRENCY}\\s*)?${NUMBERS}${NO_CENTS}?(?:\\s?(?:%|${CURRENCY}))?`,
  'giu',
);
/** Any number except a percentage. */
const PLAIN_NUMBER = new RegExp(`${NUMBERS}(?![\\p{Nd}.,]*\\s?%)`, 'giu');
/** Words of names about amounts. A number in such a name is an amount even without a currency. */
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
/** A name such as `Variant 2`, whose number only identifies the arm. A number without such a word may be an amount. */
const NUMBERED_ARM =
  /^(?:variant|variation|version|arm|group|treatment|test|control|option)\s*#?\s*\d{1,2}$/i;

/** Types of tests in which every number is removed. */
const TESTS_OF_AMOUNTS: readonly SplitTestType[] = ['price', 'shipping', 'offer'];

/**
 * Returns the name of a test or an arm without amounts. In a name about amounts, every number except a percentage is
 * one. `nameOfTest`: the name of the test that an arm belongs to, because `49` is an amount in a test named `Price`.
 */
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

/** Returns a text, such as a tool's own id of a test, without the amounts that name their currency. */
export const redactStatedAmounts = (text: string): string => text.replace(AMOUNT, REDACTED);
