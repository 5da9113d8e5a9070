import type { CreativeReading } from '#contracts/events/corpus/creative.ts';
import { CUT_MARK, cutList, cutTextToBytes } from '#contracts/values/text.ts';
import type { Row } from '../define-projection.ts';

/**
 * The parts of a reading that a word search covers. Postgres refuses a word index of more than 1,048,575 bytes, and one
 * byte of text may need four, since hyphenated words are indexed whole and in parts.
 */

/** Maximum bytes as JSON. Transcript and corrections share one index. */
const TRANSCRIPT_MAX_BYTES = 200_000;
const CORRECTIONS_MAX_BYTES = 60_000;
const SHOWN_TEXTS_MAX_BYTES = 260_000;

/** Returns the items that fit; `null` when all do. */
const partOf = <Item>(
  items: readonly Item[] | null,
  maxBytes: number,
  mark: Item,
): readonly Item[] | null => {
  if (items === null) return null;
  const part = cutList(items, { maxItems: Number.POSITIVE_INFINITY, maxBytes, mark });
  return part.length === items.length && part.at(-1) !== mark ? null : part;
};

/** Each column `searched_…` holds the part that fits, or `null` when the whole fits. */
export const searchedParts = ({
  transcript,
  corrections,
  shown_texts,
}: Pick<Partial<CreativeReading>, 'transcript' | 'corrections' | 'shown_texts'>): Row => {
  const transcriptPart = transcript == null ? null : cutTextToBytes(transcript, TRANSCRIPT_MAX_BYTES);
  return {
    ...(transcript === undefined
      ? {}
      : { searched_transcript: transcriptPart === transcript ? null : transcriptPart }),
    ...(corrections === undefined
      ? {}
      : {
          searched_corrections: partOf(corrections, CORRECTIONS_MAX_BYTES, {
            heard: CUT_MARK,
            meant: CUT_MARK,
          }),
        }),
    ...(shown_texts === undefined
      ? {}
      : { searched_shown_texts: partOf(shown_texts, SHOWN_TEXTS_MAX_BYTES, CUT_MARK) }),
  };
};
