import { expect, test } from 'vitest';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';

test('no two advisory locks have the same id', () => {
  const ids = Object.values(ADVISORY_LOCKS);
  expect(ids.filter((id, place) => ids.indexOf(id) !== place)).toEqual([]);
});
