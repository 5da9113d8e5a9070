/**
 * Names of tests have results, such as `Winner`. The service never reports them (specification, row "split-tests"), so
 * they are removed before anything is recorded.
 */

const REDACTED = '…';

const VERDICT_WORD =
  /\b(?:winners?|winning|losers?|losing|(?:best|worst|top|over|under)[- ]?perform(?:er|ers|ing))\b/giu;
/** Recognised by its sign or by the word `lift` after it. */
const PERCENT_CHANGE = /[-+±−]\s?\d[\d.,]*\s?%(?:\s?(?:up)?lift\b)?|\d[\d.,]*\s?%\s?(?:up)?lift\b/giu;

export const redactResults = (name: string): string =>
  name.replace(VERDICT_WORD, REDACTED).replace(PERCENT_CHANGE, REDACTED);
