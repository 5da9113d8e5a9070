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
