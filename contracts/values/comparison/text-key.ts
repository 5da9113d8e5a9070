import { decodeHTMLStrict } from 'entities/decode';

/**
 * Form in which texts and links are compared (rule 5 of services/domain/README.md, which has the table of differences that
 * are none). What is stored and shown stays as observed.
 */

/** Nearly all texts that need no work: printable ASCII with single spaces, without escapes. */
const PLAIN = /^[!-[\]-~]+(?: [!-[\]-~]+)*$/;
/** Escapes of JSON, JavaScript and Python. Halves of surrogate pairs and NUL are no characters. */
const ESCAPE =
  /\\(?:u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|u(?!d[89a-f]|0000)([\da-f]{4})|x(?!00)([\da-f]{2})|([nrtfv"'/\\]))/gi;
const ENTITY = /&#?\w+;/;
/** An ampersand that was escaped several times. */
const AMPERSAND = /&(?:amp;|#0*38;|#x0*26;)+/gi;
/** White space that escapes stand for. */
const BLANKS = 'nrtfv';
/**
 * Characters without a glyph of their own: zero-width and bidi signs, soft hyphens, variation selectors. Not the joiner within
 * an emoji and the tags of a flag, because another emoji or flag is another text.
 */
const IGNORED = /(?![\u200d\u{e0020}-\u{e007f}])\p{Default_Ignorable_Code_Point}/gu;
const HAS_IGNORED = /\p{Default_Ignorable_Code_Point}/u;
const TAGS = /(\u{1f3f4})?[\u{e0020}-\u{e007f}]+/gu;
/** Joiners that join no emoji. Expects texts without variation selectors. */
const JOINER =
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}])\u200d+|\u200d+(?![\u200d\p{Extended_Pictographic}])/gu;
/** White space, and the blank of braille, which advertisers use for it; not a single space between words. */
const WHITE_SPACE = /[\s\u0085\u2800]{2,}|(?! )[\s\u0085\u2800]/g;
/** A first character that is visible. */
const VISIBLE_START =
  /^[\s\u0085\u2800\p{Default_Ignorable_Code_Point}]*[^\s\u0085\u2800\p{Default_Ignorable_Code_Point}&\\]/u;

const unescaped = (
  _whole: string,
  high: string | undefined,
  low: string | undefined,
  unicode: string | undefined,
  byte: string | undefined,
  sign: string | undefined,
): string => {
  if (sign !== undefined) return BLANKS.includes(sign.toLowerCase()) ? ' ' : sign;
  return [high, low, unicode ?? byte]
    .map((digits) => (digits === undefined ? '' : String.fromCharCode(Number.parseInt(digits, 16))))
    .join('');
};

const withoutIgnored = (text: string): string =>
  HAS_IGNORED.test(text)
    ? text
        .replaceAll(IGNORED, '')
        .replaceAll(TAGS, (tags, flag?: string) => (flag === undefined ? '' : tags))
        .replaceAll(JOINER, '')
    : text;

const hasEntity = (text: string): boolean => text.includes('&') && ENTITY.test(text);

const comparable = (text: string): string => {
  const bare = text.includes('\\') ? text.replaceAll(ESCAPE, unescaped) : text;
  const plain = hasEntity(bare) ? decodeHTMLStrict(bare.replaceAll(AMPERSAND, '&')) : bare;
  return withoutIgnored(plain).normalize('NFC').replaceAll(WHITE_SPACE, ' ').trim();
};

/** Maximum steps. Only texts that escape their escapes on purpose need more than a few; each step reads all of a text. */
const STEPS_MAX = 50;

/** Applies a function until it changes nothing more: one step can make room for another, such as `&am\u200bp;`. */
export const untilStable = (step: (text: string) => string, text: string): string => {
  let [before, after] = [text, step(text)];
  for (let steps = 1; before !== after && steps < STEPS_MAX; steps += 1)
    [before, after] = [after, step(after)];
  return after;
};

/** Returns a text in the form in which texts are compared. Texts that differ in nothing but spelling have the same. */
export const textKey = (text: string): string =>
  PLAIN.test(text) && !hasEntity(text) ? text : untilStable(comparable, text);

/** Marks of a cut text. */
const CUT_MARKS = ['…', '...'] as const;

/** Returns the key of a text without the marks at its end that say that it was cut. A mark alone stays. */
export const copyKey = (text: string): string => {
  const key = textKey(text);
  const markOf = (bare: string): string | undefined => CUT_MARKS.find((mark) => bare.endsWith(mark));
  let bare = key;
  for (let mark = markOf(bare); mark !== undefined; mark = markOf(bare))
    bare = bare.slice(0, -mark.length).trimEnd();
  return bare === '' ? key : bare;
};

/** True when nothing of the text is visible. */
export const isBlankText = (text: string): boolean => !VISIBLE_START.test(text) && textKey(text) === '';
