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
