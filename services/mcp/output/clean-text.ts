/** Control characters except tab and line feed, and invisible ones that can hide or reorder words. */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0E\uFEFF\uFFA0\uFFF0-\uFFFB\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]/gu;

/** Also removes halves of surrogate pairs. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll(INVISIBLE, '');

export type CutText = { readonly text: string; readonly isCut: boolean };

export const cutText = (text: string, maxLength: number): CutText => {
  const cleaned = cleanText(text);
  if (cleaned.length <= maxLength) return { text: cleaned, isCut: false };
  const points = Array.from(cleaned);
  if (points.length <= maxLength) return { text: cleaned, isCut: false };
  return { text: `${points.slice(0, maxLength).join('')}…`, isCut: true };
};
