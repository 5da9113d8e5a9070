import type { SplitTestType } from '#contracts/observations/site-scan.ts';

/**
 * Redaction of amounts in the names of split tests and their arms. People put amounts into these names: `Price $49`,
 * `Free shipping over 60 €`. Amounts of prices and shipping are never served (specification, row "split-tests"), so
 * they are removed before anything is recorded.
 */

/** Text that replaces an amount. */
const REDACTED = '…';

const CURRENCY = String.raw`(?:\p{Sc}|\b(?:usd|eur|gbp|cad|aud|nzd|inr|chf|sek|nok|dkk|jpy|dollars?|euros?|pounds?|bucks)\b)`;
const DIGITS = String.raw`\d[\d.,']*`;

/** A number directly before or after a currency. */
const AMOUNT = new RegExp(`${CURRENCY}\\s*${DIGITS}|${DIGITS}\\s*${CURRENCY}`, 'giu');
/** Any number with its sign and unit. In a test of amounts every number may be one. */
const NUMBER = new RegExp(`(?:[-+±]\\s?)?(?:${CURRENCY}\\s*)?${DIGITS}(?:\\s?(?:%|${CURRENCY}))?`, 'giu');
/** A name such as `Variant 2`, whose number only identifies the arm. A number without such a word may be an amount. */
const NUMBERED_ARM =
  /^(?:variant|variation|version|arm|group|treatment|test|control|option)\s*#?\s*\d{1,2}$/i;

/** Types of tests in which every number is removed. */
const TESTS_OF_AMOUNTS: readonly SplitTestType[] = ['price', 'shipping', 'offer'];

export const redactAmounts = (name: string, type: SplitTestType): string => {
  if (NUMBERED_ARM.test(name.trim())) return name;
  return name.replace(TESTS_OF_AMOUNTS.includes(type) ? NUMBER : AMOUNT, REDACTED);
};
