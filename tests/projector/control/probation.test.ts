import { expect, test } from 'vitest';
import { isOnProbation, type Probation, probationAfter } from '#services/projector/control/probation.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Fails in a group as soon as each probation is over. Returns the lengths in minutes. */
const failingAtOnce = (times: number): readonly number[] => {
  const lengths: number[] = [];
  let probation: Probation | null = null;
  for (let nowMs = 0; lengths.length < times; nowMs = probation.endsAtMs) {
    probation = probationAfter(probation, false, nowMs);
    lengths.push(probation.lengthMs / MINUTE);
  }
  return lengths;
};

test('a probation doubles with each failure in a group, up to an hour', () => {
  expect(failingAtOnce(9)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
});

test('a failure while reading alone begins the same probation again', () => {
  const first = probationAfter(null, false, 0);
  const second = probationAfter(first, false, first.endsAtMs);
  const alone = probationAfter(second, true, second.endsAtMs - 1);
  expect(alone).toEqual({ lengthMs: 2 * MINUTE, endsAtMs: second.endsAtMs - 1 + 2 * MINUTE });
});

test('a probation is as short as the first after an hour in a group without a failure, and not before', () => {
  const first = probationAfter(null, false, 0);
  const second = probationAfter(first, false, first.endsAtMs);
  expect(probationAfter(second, false, second.endsAtMs + HOUR - 1).lengthMs).toBe(4 * MINUTE);
  expect(probationAfter(second, false, second.endsAtMs + HOUR).lengthMs).toBe(MINUTE);
});

test('a projection is on probation until its end', () => {
  const probation = probationAfter(null, false, 0);
  expect(isOnProbation(null, 0)).toBe(false);
  expect(isOnProbation(probation, probation.endsAtMs - 1)).toBe(true);
  expect(isOnProbation(probation, probation.endsAtMs)).toBe(false);
});
