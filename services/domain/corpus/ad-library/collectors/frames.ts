import { escapeRegExp } from 'es-toolkit/string/escapeRegExp';

/**
 * Frames: text that a collector shows before or after the copy of an ad, such as the timer of a video or the label of a
 * button (rule 6). Texts are expected in the form of `textKey`.
 */

/** Maximum characters of a frame. */
const FRAME_CHARACTERS_MAX = 200;
/** The time of a player, such as `0:45` or `1:02:33`. */
const CLOCK = /(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])/g;
/** The patterns that stand for clocks, the longer one first. */
const CLOCK_PATTERNS = [
  ['#:#:#', String.raw`\d{1,2}:\d{2}:\d{2}`],
  ['#:#', String.raw`\d{1,2}:\d{2}`],
] as const;

/** Returns a text without what collectors write differently: case, white space, quotes, dashes. */
export const normalise = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[‘’‚‛′`]/g, "'")
    .replace(/[“”„‟″]/g, '"')
    .replace(/\p{Pd}/gu, '-')
    .replace(/\s+/g, '')
    .toLowerCase();

/** Returns the text with `#` for the digits of its clocks, since each video has another duration. */
export const withoutClocks = (text: string): string =>
  text.replace(CLOCK, (clock) => clock.replace(/\d+/g, '#'));

/** True for a frame of clocks and signs alone. */
const isTimer = (piece: string): boolean => !/[\p{L}\p{N}]/u.test(piece.replace(CLOCK, ''));

/** True between two characters of one word or number. Scripts without blanks between words have no such places. */
const isInsideWord = (text: string, at: number): boolean =>
  /[\p{Lu}\p{Ll}\p{N}]$/u.test(text.slice(0, at)) && /^[\p{Lu}\p{Ll}\p{N}]/u.test(text.slice(at));

type Span = { readonly start: number; readonly end: number };
/** The place of the copy that both texts have in common. */
type Core = { readonly before: Span; readonly after: Span };

/** Returns the core of two texts of which one contains the other, unless the rest is a part of its words or numbers. */
const containedCore = (before: string, after: string): Core | null => {
  const [longer, shorter] = after.length >= before.length ? [after, before] : [before, after];
  const start = longer.indexOf(shorter);
  const end = start + shorter.length;
  if (start === -1 || isInsideWord(longer, start) || isInsideWord(longer, end)) return null;
  const [inLonger, whole] = [
    { start, end },
    { start: 0, end: shorter.length },
  ];
  return longer === after ? { before: whole, after: inLonger } : { before: inLonger, after: whole };
};

type Word = Span & { readonly key: string };

const wordsOf = (text: string): readonly Word[] =>
  [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
    key: normalise(word),
  }));

/** Returns the longest run of equal words that starts where a frame may end. */
const commonRun = (before: readonly Word[], after: readonly Word[]): Core | null => {
  let longest = 0;
  let core: Core | null = null;
  for (const [i, first] of before.entries()) {
    if (first.start > FRAME_CHARACTERS_MAX) break;
    for (const [j, other] of after.entries()) {
      if (other.start > FRAME_CHARACTERS_MAX) break;
      const isWithinRun = i > 0 && j > 0 && before[i - 1]?.key === after[j - 1]?.key;
      if (isWithinRun) continue;
      let words = 0;
      while (before[i + words] && before[i + words]?.key === after[j + words]?.key) words += 1;
      const last = before[i + words - 1];
      const otherLast = after[j + words - 1];
      if (words === 0 || !last || !otherLast || last.end - first.start <= longest) continue;
      longest = last.end - first.start;
      core = {
        before: { start: first.start, end: last.end },
        after: { start: other.start, end: otherLast.end },
      };
    }
  }
  return core;
};

const outerWord = (side: 'prefix' | 'suffix', piece: string): string =>
  normalise(piece.split(/\s+/).at(side === 'prefix' ? 0 : -1) ?? '');

/**
 * True when the brand replaced the text before or after the core. With the same outer word the change lies within the
 * copy, and digits other than those of clocks are the brand's.
 */
const isOwnChange = (side: 'prefix' | 'suffix', old: string, now: string): boolean => {
  if (isTimer(old) && isTimer(now)) return false;
  return outerWord(side, old) === outerWord(side, now) || /\d/.test(`${old} ${now}`.replace(CLOCK, ''));
};

/**
 * Returns the frames that differ between two texts, as `<name> <sign><side> <frame>`; `null` when the texts differ inside. A
 * `-` frame was shown before, a `+` frame is shown now. Timers are returned without their digits.
 */
export const differingFrames = (name: string, before: string, after: string): readonly string[] | null => {
  const core = containedCore(before, after) ?? commonRun(wordsOf(before), wordsOf(after));
  if (core === null) return null;
  const frames: string[] = [];
  for (const side of ['prefix', 'suffix'] as const) {
    const [old, now] = [[before, core.before] as const, [after, core.after] as const].map(
      ([text, { start, end }]) => (side === 'prefix' ? text.slice(0, start) : text.slice(end)).trim(),
    );
    if (old === undefined || now === undefined) continue;
    if (Math.max(old.length, now.length) > FRAME_CHARACTERS_MAX) return null;
    if (old !== '' && now !== '' && isOwnChange(side, old, now)) return null;
    for (const [sign, piece] of [
      ['-', old],
      ['+', now],
    ] as const) {
      if (piece === '') continue;
      frames.push(`${name} ${sign}${side} ${isTimer(piece) ? withoutClocks(piece) : piece}`);
    }
  }
  return frames;
};

/** Returns the pattern of a frame at one end of a text. It does not match a part of a number. */
const frameAt = (side: 'prefix' | 'suffix', frame: string): RegExp => {
  let pattern = escapeRegExp(frame);
  for (const [clock, digits] of CLOCK_PATTERNS) pattern = pattern.replaceAll(clock, digits);
  return new RegExp(side === 'prefix' ? `^${pattern}(?!\\d)` : `(?<!\\d)${pattern}$`);
};

/** Returns the text without those of the frames that have this name and sign. A text that is a frame alone stays. */
export const withoutFrames = (
  name: string,
  sign: '+' | '-',
  text: string,
  frames: readonly string[],
): string => {
  let bare = text;
  for (const side of ['prefix', 'suffix'] as const) {
    const start = `${name} ${sign}${side} `;
    for (const frame of frames) {
      if (!frame.startsWith(start)) continue;
      bare = bare.replace(frameAt(side, frame.slice(start.length)), '').trim() || bare;
    }
  }
  return bare;
};
