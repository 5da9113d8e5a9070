import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyText, isKeyText, lastFourOf, sha256Of } from '#application/access/key-format.ts';
import { runs } from '#tests/property-seed.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('API keys', () => {
  test('match the documented format and pass the checksum', () => {
    for (let count = 0; count < 200; count += 1) {
      const key = createKeyText();
      expect(key).toMatch(/^svc_live_[0-9A-Za-z]{36}$/);
      expect(isKeyText(key)).toBe(true);
    }
  });

  test('fail the checksum when one character is mistyped', () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 44 }), fc.constantFrom(...BASE62.split('')), (index, letter) => {
        const key = createKeyText();
        const mistyped = key.slice(0, index) + letter + key.slice(index + 1);
        expect(isKeyText(mistyped)).toBe(mistyped === key);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('fail the checksum when two neighbouring characters are swapped', () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 43 }), (index) => {
        const key = createKeyText();
        const swapped = key.slice(0, index) + key[index + 1] + key[index] + key.slice(index + 2);
        expect(isKeyText(swapped)).toBe(swapped === key);
      }),
      { numRuns: runs(500) },
    );
  });

  test('reject any text that is not a key', () => {
    fc.assert(fc.property(fc.string(), (text) => !isKeyText(text)));
    expect(isKeyText(`${createKeyText()} `)).toBe(false);
    expect(isKeyText(createKeyText().replace('svc_live_', 'svc_test_'))).toBe(false);
  });

  test('are stored as a SHA-256 hash and their last four characters', () => {
    const key = createKeyText();
    expect(sha256Of(key)).toMatch(/^[0-9a-f]{64}$/);
    expect(lastFourOf(key)).toBe(key.slice(-4));
  });
});
