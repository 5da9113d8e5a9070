import type { SplitTestType } from '#contracts/observations/site-scan.ts';

/**
 * Names of tests and arms are written by people, who put amounts into them: `Price $49`, `Free shipping over 60 €`.
 * Amounts of prices and shipping are never served (specification, row "split-tests"), so they are taken out of names
 * before anything is recorded.
 */
const TAKEN_OUT = '…';

const CURRENCY = String.raw`(?:\p{Sc}|\b(?:usd|eur|gbp|cad|aud|nzd|inr|chf|sek|nok|dkk|jpy|dollars?|euros?|pounds?|bucks)\b)`;
const DIGITS = String.raw`\d[\d.,']*`;

/** A number beside a currency. */
const AMOUNT = new RegExp(`${CURRENCY}\\s*${DIGITS}|${DIGITS}\\s*${CURRENCY}`, 'giu');
/** Any number with its sign and unit: where amounts are what is tested, it may be one of them. */
const NUMBER = new RegExp(`(?:[-+±]\\s?)?(?:${CURRENCY}\\s*)?${DIGITS}(?:\\s?(?:%|${CURRENCY}))?`, 'giu');
/** A number behind a word for an arm only tells arms apart. A bare one may be an amount. */
const PLACE = /^(?:variant|variation|version|arm|group|treatment|test|control|option)\s*#?\s*\d{1,2}$/i;

const TESTS_OF_AMOUNTS: readonly SplitTestType[] = ['price', 'shipping', 'offer'];

export const withoutAmounts = (name: string, type: SplitTestType): string => {
  if (PLACE.test(name.trim())) return name;
  return name.replace(TESTS_OF_AMOUNTS.includes(type) ? NUMBER : AMOUNT, TAKEN_OUT);
};
