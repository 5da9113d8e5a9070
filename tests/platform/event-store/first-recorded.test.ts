import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addMark,
  canCarryMark,
  removeMark,
  splitMetadata,
} from '#platform/event-store/copy/first-recorded.ts';

const FIRST = { position: '18446744073709551615', at: '2026-05-01T10:00:00.123Z' };
const sized = (metadata: Uint8Array, bytes = 2) => ({ type: 'Tried', data: Buffer.alloc(bytes), metadata });

const objects = fc
  .tuple(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), fc.constantFrom('', ' ', '\n\t'))
  .map(([value, space]) => {
    const text = JSON.stringify(value);
    return Buffer.from(`{${space}${text.slice(1, -1)}${space}}${space}`, 'utf8');
  });

describe('the mark of a copied event', () => {
  test('is added and removed without changing any other byte', () => {
    fc.assert(
      fc.property(objects, (metadata) => {
        expect(canCarryMark(sized(metadata))).toBe(true);
        const marked = addMark(metadata, FIRST);
        const { metadata: kept, first } = removeMark(marked);
        expect(Buffer.from(kept).equals(metadata)).toBe(true);
        expect(first).toEqual(FIRST);
        const parsed: unknown = JSON.parse(Buffer.from(marked).toString('utf8'));
        expect(splitMetadata(parsed)).toEqual({
          metadata: JSON.parse(metadata.toString('utf8')) as unknown,
          first: FIRST,
        });
      }),
    );
  });

  test('is not found in metadata that has none', () => {
    fc.assert(
      fc.property(fc.oneof(objects, fc.uint8Array()), (metadata) => {
        expect(removeMark(metadata)).toEqual({ metadata, first: null });
      }),
    );
  });

  test.each([
    ['nothing', ''],
    ['an array', '[1]'],
    ['a text', '"{}"'],
    ['an object after a space', ' {}'],
    ['no JSON', '{'],
    ['a name of the mark', '{"a":1,"$firstRecorded":{}}'],
  ])('is not added to metadata that is %s', (_, text) => {
    expect(canCarryMark(sized(Buffer.from(text)))).toBe(false);
  });

  test('is not added to an event that would become too large for one append', () => {
    expect(canCarryMark(sized(Buffer.from('{}'), 1024 * 1024 - 200))).toBe(true);
    expect(canCarryMark(sized(Buffer.from('{}'), 1024 * 1024 - 100))).toBe(false);
  });
});
