import { describe, test } from 'vitest';
import { creativeStream, type CreativeReading } from '#contracts/events/corpus/creative.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { creatives } from '#projections/creatives/project.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';

/** Words of creative files at and over the size of a word index, 1,048,575 bytes. */

const KEY = 'a'.repeat(64);

const read = (changes: Partial<CreativeReading>, day = 7): GivenEvent => ({
  stream: creativeStream(KEY),
  event: {
    type: 'CreativeAnalysed',
    data: { creative_key: KEY, observed_at: `2026-05-0${day}T10:00:00Z`, changes },
  },
});

/** Distinct hyphenated words have the longest index in relation to the text. */
const words = (count: number, first = 0): string =>
  Array.from({ length: count }, (_, index) => {
    const number = (first + index).toString(36).padStart(4, '0');
    return `я${number.slice(0, 2)}-ж${number.slice(2)}`;
  }).join(' ');

const listOf = (count: number, wordsEach: number): string[] =>
  Array.from({ length: count }, (_, index) => words(wordsEach, index * wordsEach));

const found =
  (...searched: readonly string[]) =>
  async (db: ReadDatabase): Promise<readonly (readonly boolean[])[]> =>
    Promise.all(
      searched.map(async (word) => {
        const [row] = await db.query<{ said: boolean; shown: boolean }>({
          sql: `select said @@ plainto_tsquery('simple', $1) as said, shown @@ plainto_tsquery('simple', $1) as shown
            from creatives.file`,
          values: [word],
        });
        return [row?.said ?? false, row?.shown ?? false];
      }),
    );

describe('words of a creative file', () => {
  test('are searched up to the limit of an index when the texts are longer', () =>
    given([
      read({
        transcript: `beginning ${words(90_000)} end`,
        corrections: listOf(500, 40).map((heard, index) => ({ heard, meant: index === 0 ? 'meant' : heard })),
        shown_texts: ['opening', ...listOf(200, 240), 'closing'],
      }),
    ])
      .into(creatives)
      .shows(found('beginning', 'meant', 'opening', 'closing'), [
        [true, false],
        [true, false],
        [false, true],
        [false, false],
      ]));

  test('are searched as a whole when they fit, also after a longer reading', () =>
    given([
      read({ transcript: words(90_000), shown_texts: listOf(400, 120) }),
      read({ transcript: 'short and sweet', shown_texts: ['fresh'] }, 8),
    ])
      .into(creatives)
      .shows(found('sweet', 'fresh', 'я00-ж00'), [
        [true, false],
        [false, true],
        [false, false],
      ]));
});
