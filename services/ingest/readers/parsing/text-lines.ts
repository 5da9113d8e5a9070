import type { Source } from './open-source.ts';

export const LINE_MAX_CHARACTERS = 64 * 1024;

export type TextLine = { readonly line: number; readonly raw: string; readonly tooLong: boolean };

export async function* textLines(source: Source): AsyncGenerator<TextLine> {
  let buffered = '';
  let tooLong = false;
  let line = 0;
  const whole = (text: string): TextLine => {
    line += 1;
    const item = { line, raw: text.replace(/\r$/, ''), tooLong };
    tooLong = false;
    return item;
  };
  for await (const chunk of source.chunks()) {
    const [first = '', ...rest] = chunk.split('\n');
    buffered += first;
    for (const next of rest) {
      yield whole(buffered);
      buffered = next;
    }
    if (buffered.length > LINE_MAX_CHARACTERS) {
      buffered = buffered.slice(0, LINE_MAX_CHARACTERS);
      tooLong = true;
    }
  }
  if (buffered !== '') yield whole(buffered);
}
