import { IntakeRefusal } from '../server/intake-refusal.ts';

export const LINES_MAX = 1_000;

const NEWLINE = 0x0a;
const BLANK = new Set([0x09, 0x0d, 0x20]);

export type Line = {
  readonly number: number;
  readonly bytes: Buffer;
};

const isBlank = (bytes: Buffer): boolean => bytes.every((byte) => BLANK.has(byte));

/** Omits blank lines. Throws `invalid_request` without lines, `too_large` for too many. */
export const readLines = (body: Buffer): readonly Line[] => {
  const lines: Line[] = [];
  let number = 0;
  for (let start = 0; start < body.length; ) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline === -1 ? body.length : newline;
    const bytes = body.subarray(start, end);
    number += 1;
    start = end + 1;
    if (isBlank(bytes)) continue;
    if (lines.length === LINES_MAX) {
      throw new IntakeRefusal('too_large', `The body has more than ${LINES_MAX} lines. Send smaller parts.`);
    }
    lines.push({ number, bytes });
  }
  if (lines.length > 0) return lines;
  throw new IntakeRefusal('invalid_request', 'The body has no line. Send one JSON object per line.');
};
