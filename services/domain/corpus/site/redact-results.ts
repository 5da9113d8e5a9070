/**
 * People write into names of tests and arms how they went: `Winner`, `Hero B (+12 %)`. The service never says which
 * arm did better (specification, row "split-tests"), so that is taken out before anything is recorded.
 */
const TAKEN_OUT = '…';

const VERDICT =
  /\b(?:winners?|winning|losers?|losing|(?:best|worst|top|over|under)[- ]?perform(?:er|ers|ing))\b/giu;
/** A change in per cent, by its sign or by the word behind it. */
const RESULT = /[-+±−]\s?\d[\d.,]*\s?%(?:\s?(?:up)?lift\b)?|\d[\d.,]*\s?%\s?(?:up)?lift\b/giu;

export const withoutVerdicts = (name: string): string =>
  name.replace(VERDICT, TAKEN_OUT).replace(RESULT, TAKEN_OUT);
