import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  appendFields,
  arrayText,
  joinObjects,
  lastStringField,
  objectText,
} from '#contracts/values/json-text.ts';

const fieldName = fc.stringMatching(/^[a-z_]{1,8}$/).filter((name) => name !== '__proto__');
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '"at":"x"',
    '\\"at":',
    '","at":"',
    '"creator":{"id":"m","name":null}',
    '}',
    '\\',
    '"',
    '"at',
  ),
);
const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const record = fc.dictionary(fieldName, value, { noNullPrototype: true });
const parsed = (json: string): unknown => JSON.parse(json);

describe('objects', () => {
  test('are built from field texts in their order', () => {
    expect(objectText({ name: '"a"', size: '1' })).toBe('{"name":"a","size":1}');
    expect(objectText({})).toBe('{}');
  });

  test('are joined in the order of their fields', () => {
    expect(joinObjects('{"a":1}', '{"b":{}}')).toBe('{"a":1,"b":{}}');
    expect(appendFields('{"a":1}', { b: 'null', c: '[]' })).toBe('{"a":1,"b":null,"c":[]}');
  });

  test('are joined to what JSON.stringify writes for both', () => {
    fc.assert(
      fc.property(record, record, (first, second) => {
        const rest = Object.fromEntries(
          Object.entries(second).filter(([name]) => !Object.hasOwn(first, name)),
        );
        const joined = joinObjects(JSON.stringify(first), JSON.stringify(rest));
        expect(joined).toBe(JSON.stringify({ ...first, ...rest }));
      }),
    );
  });

  test('get fields appended that parse to their values', () => {
    fc.assert(
      fc.property(record, value, (object, last) => {
        const appended = appendFields(JSON.stringify(object), { LAST: JSON.stringify(last) });
        expect(parsed(appended)).toEqual({ ...object, LAST: last });
      }),
    );
  });
});

test('arrays parse to their items', () => {
  fc.assert(
    fc.property(fc.array(record), (items) => {
      expect(parsed(arrayText(items.map((item) => JSON.stringify(item))))).toEqual(items);
    }),
  );
});

describe('lastStringField', () => {
  test('returns the string of the own field for any other texts', () => {
    fc.assert(
      fc.property(record, text, record, (before, at, after) => {
        const item = { BEFORE: before, AT: at, AFTER: after };
        expect(lastStringField(JSON.stringify(item), 'AT')).toBe(at);
      }),
    );
  });

  test('returns the last of several', () => {
    expect(lastStringField('{"parts":[{"at":"1"}],"at":"2"}', 'at')).toBe('2');
  });

  test('returns null when no field of the name holds a string', () => {
    expect(lastStringField('{"at":null,"seat":"1"}', 'at')).toBeNull();
    expect(lastStringField('{"note":"\\"at\\":\\"1\\""}', 'at')).toBeNull();
  });
});
