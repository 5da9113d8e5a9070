import { decodeHTMLStrict } from 'entities/decode';

const PLAIN = /^[!-[\]-~]+(?: [!-[\]-~]+)*$/;
/** Escapes of JSON, JavaScript and Python. Halves of surrogate pairs and NUL are not characters. */
const ESCAPE =
  /\\(?:u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|u(?!d[89a-f]|0000)([\da-f]{4})|x(?!00)([\da-f]{2})|([nrtfv"'/\\]))/gi;
const ENTITY = /&#?\w+;/;
const AMPERSAND = /&(?:amp;|#0*38;|#x0*26;)+/gi;
const BLANKS = 'nrtfv';
/** Characters without a glyph, except joiners in emoji and tags of flags, which make another emoji or flag. */
const IGNORED = /(?![\u200d\u{e0020}-\u{e007f}])\p{Default_Ignorable_Code_Point}/gu;
const HAS_IGNORED = /\p{Default_Ignorable_Code_Point}/u;
const TAGS = /(\u{1f3f4})?[\u{e0020}-\u{e007f}]+/gu;
/** Joins no emoji. Expects texts without variation selectors. */
const JOINER =
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}])\u200d+|\u200d+(?![\u200d\p{Extended_Pictographic}])/gu;
/** Includes the blank of braille, which advertisers use; not a single space between words. */
const WHITE_SPACE = /[\s\u0085\u2800]{2,}|(?! )[\s\u0085\u2800]/g;
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

/** Only texts that escape their escapes on purpose need more than a few; each step reads all of a text. */
const STEPS_MAX = 50;

/** One step can make room for another, such as `&am\u200bp;`. */
export const untilStable = (step: (text: string) => string, text: string): string => {
  let [before, after] = [text, step(text)];
  for (let steps = 1; before !== after && steps < STEPS_MAX; steps += 1)
    [before, after] = [after, step(after)];
  return after;
};

export const textKey = (text: string): string =>
  PLAIN.test(text) && !hasEntity(text) ? text : untilStable(comparable, text);

const CUT_MARKS = ['…', '...'] as const;

/** Drops the marks at the end of a cut text. A mark alone stays. */
export const copyKey = (text: string): string => {
  const key = textKey(text);
  const markOf = (bare: string): string | undefined => CUT_MARKS.find((mark) => bare.endsWith(mark));
  let bare = key;
  for (let mark = markOf(bare); mark !== undefined; mark = markOf(bare))
    bare = bare.slice(0, -mark.length).trimEnd();
  return bare === '' ? key : bare;
};

export const isBlankText = (text: string): boolean => !VISIBLE_START.test(text) && textKey(text) === '';
