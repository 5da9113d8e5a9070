import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LINE_MAX_BYTES, lineOf, parseLine } from '#services/ops/log/file.ts';

const bytes = fc.oneof(
  fc.uint8Array(),
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(text, 'utf8')),
  fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value), 'utf8')),
);
const events = fc.record({
  stream: fc.string({ unit: 'grapheme', minLength: 1 }),
  revision: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  position: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  at: fc
    .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((at) => at.toISOString()),
  id: fc.uuid(),
  type: fc.string({ unit: 'grapheme', minLength: 1 }),
  contentType: fc.constantFrom('application/json', 'application/octet-stream'),
  data: bytes,
  metadata: bytes,
});

test('the line of an event keeps every byte of it', () => {
  fc.assert(
    fc.property(events, (event) => {
      const line = lineOf(event);
      expect(line).not.toContain('\n');
      const read = parseLine(JSON.parse(line));
      expect(read).toEqual({
        kind: 'event',
        event: { ...event, data: Buffer.from(event.data), metadata: Buffer.from(event.metadata) },
      });
    }),
  );
});

test('the line of the largest event of a server fits the limit of a line, with any bytes', () => {
  // A sixteenth of the largest event, and of the limit: the test stays short.
  const largest = 1024 * 1024;
  for (const value of [0, 0x22, 0x61, 0xff]) {
    const data = Buffer.alloc(largest, value);
    const metadata = Buffer.from('{}');
    const event = { data, metadata, contentType: '', id: '', type: 'Tried', at: '', stream: 'a-1' };
    const line = lineOf({ ...event, revision: 0n, position: 0n });
    expect(Buffer.byteLength(line)).toBeLessThan(LINE_MAX_BYTES / 16);
  }
});
