/**
 * Redaction of results in the names of split tests and their arms. People put results into these names: `Winner`,
 * `Hero B (+12 %)`. The service never reports which arm did better (specification, row "split-tests"), so results are
 * removed before anything is recorded.
 */

/** Text that replaces a result. */
const REDACTED = '…';

const VERDICT_WORD =
  /\b(?:winners?|winning|losers?|losing|(?:best|worst|top|over|under)[- ]?perform(?:er|ers|ing))\b/giu;
/** A change in per cent, recognised by its sign or by the word `lift` after it. */
const PERCENT_CHANGE = /[-+±−]\s?\d[\d.,]*\s?%(?:\s?(?:up)?lift\b)?|\d[\d.,]*\s?%\s?(?:up)?lift\b/giu;

export const redactResults = (name: string): string =>
  name.replace(VERDICT_WORD, REDACTED).replace(PERCENT_CHANGE, REDACTED);
