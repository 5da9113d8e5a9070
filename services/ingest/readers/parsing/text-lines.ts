import { StringDecoder } from 'node:string_decoder';
import type { Source } from './open-source.ts';

/** The longest single line. */
export const LINE_MAX_CHARACTERS = 64 * 1024;

export type TextLine = { readonly line: number; readonly raw: string; readonly tooLong: boolean };

/** The lines of a text, without their ends; of one that is too long, its beginning. */
export async function* textLines(source: Source): AsyncGenerator<TextLine> {
  const decoder = new StringDecoder('utf8');
  let held = '';
  let tooLong = false;
  let line = 0;
  const whole = (text: string): TextLine => {
    line += 1;
    const raw = (line === 1 ? text.replace(/^\uFEFF/, '') : text).replace(/\r$/, '');
    const item = { line, raw, tooLong };
    tooLong = false;
    return item;
  };
  for await (const chunk of source.chunks()) {
    const [first = '', ...rest] = decoder.write(chunk).split('\n');
    held += first;
    for (const next of rest) {
      yield whole(held);
      held = next;
    }
    if (held.length > LINE_MAX_CHARACTERS) {
      held = held.slice(0, LINE_MAX_CHARACTERS);
      tooLong = true;
    }
  }
  held += decoder.end();
  if (held !== '') yield whole(held);
}
