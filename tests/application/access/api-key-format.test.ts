import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyText, isKeyText, lastFourOf, sha256Of } from '#application/access/api-key-format.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('API keys', () => {
  test('have the shape that is promised and pass their own check', () => {
    for (let count = 0; count < 200; count += 1) {
      const key = createKeyText();
      expect(key).toMatch(/^svc_live_[0-9A-Za-z]{36}$/);
      expect(isKeyText(key)).toBe(true);
    }
  });

  test('with any one character mistyped fail the check', () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 44 }), fc.constantFrom(...BASE62.split('')), (place, letter) => {
        const key = createKeyText();
        const mistyped = key.slice(0, place) + letter + key.slice(place + 1);
        expect(isKeyText(mistyped)).toBe(mistyped === key);
      }),
      { numRuns: 1_000 },
    );
  });

  test('with two neighbours swapped fail the check', () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 43 }), (place) => {
        const key = createKeyText();
        const swapped = key.slice(0, place) + key[place + 1] + key[place] + key.slice(place + 2);
        expect(isKeyText(swapped)).toBe(swapped === key);
      }),
      { numRuns: 500 },
    );
  });

  test('that are anything else fail the check', () => {
    fc.assert(fc.property(fc.string(), (text) => !isKeyText(text)));
    expect(isKeyText(`${createKeyText()} `)).toBe(false);
    expect(isKeyText(createKeyText().replace('svc_live_', 'svc_test_'))).toBe(false);
  });

  test('are stored as a hash and four characters', () => {
    const key = createKeyText();
    expect(sha256Of(key)).toMatch(/^[0-9a-f]{64}$/);
    expect(lastFourOf(key)).toBe(key.slice(-4));
  });
});
