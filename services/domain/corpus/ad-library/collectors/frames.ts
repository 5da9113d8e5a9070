import { escapeRegExp } from 'es-toolkit/string/escapeRegExp';

/** A frame is a collector's text around the copy, such as a timer (rule 6). Expects texts in the form of `textKey`. */

const FRAME_CHARACTERS_MAX = 200;
/** Time of a player, such as `0:45` or `1:02:33`. */
const CLOCK = /(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])/g;
/** The longer one first. */
const CLOCK_PATTERNS = [
  ['#:#:#', String.raw`\d{1,2}:\d{2}:\d{2}`],
  ['#:#', String.raw`\d{1,2}:\d{2}`],
] as const;

/** Collectors write case, white space, quotes and dashes differently. */
export const normalise = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[‘’‚‛′`]/g, "'")
    .replace(/[“”„‟″]/g, '"')
    .replace(/\p{Pd}/gu, '-')
    .replace(/\s+/g, '')
    .toLowerCase();

/** `#` replaces digits of clocks, since each video has another duration. */
export const withoutClocks = (text: string): string =>
  text.replace(CLOCK, (clock) => clock.replace(/\d+/g, '#'));

/** Clocks and signs alone. */
const isTimer = (piece: string): boolean => !/[\p{L}\p{N}]/u.test(piece.replace(CLOCK, ''));

/** Scripts without blanks between words have no such places. */
const isInsideWord = (text: string, at: number): boolean =>
  /[\p{Lu}\p{Ll}\p{N}]$/u.test(text.slice(0, at)) && /^[\p{Lu}\p{Ll}\p{N}]/u.test(text.slice(at));

type Span = { readonly start: number; readonly end: number };
type Core = { readonly before: Span; readonly after: Span };

/** `null` when the rest is a part of the core's words or numbers. */
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

/** Starts only where a frame may end. */
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

/** With the same outer word the change lies within the copy, and digits other than those of clocks are the brand's. */
const isOwnChange = (side: 'prefix' | 'suffix', old: string, now: string): boolean => {
  if (isTimer(old) && isTimer(now)) return false;
  return outerWord(side, old) === outerWord(side, now) || /\d/.test(`${old} ${now}`.replace(CLOCK, ''));
};

/** As `<name> <sign><side> <frame>`; `-` was shown before, `+` is shown now. `null` when the texts differ inside. */
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

/** Does not match a part of a number. */
const frameAt = (side: 'prefix' | 'suffix', frame: string): RegExp => {
  let pattern = escapeRegExp(frame);
  for (const [clock, digits] of CLOCK_PATTERNS) pattern = pattern.replaceAll(clock, digits);
  return new RegExp(side === 'prefix' ? `^${pattern}(?!\\d)` : `(?<!\\d)${pattern}$`);
};

/** A text that is a frame alone stays. */
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
