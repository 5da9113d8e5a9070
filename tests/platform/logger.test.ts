import { expect, test } from 'vitest';
import { describeFault } from '#platform/logger.ts';

test('of a fault its kind, message, code, place and causes are told, and nothing that a driver hung onto it', () => {
  const cause = Object.assign(new Error('refused'), {
    code: '23505',
    detail: 'Key (email)=(hush)',
    where: 'hush',
  });
  const error = Object.assign(new TypeError('could not write', { cause }), {
    parameters: ['hush'],
    config: 'hush',
  });
  const told = describeFault(error);
  expect(told).toMatchObject({
    type: 'TypeError',
    message: 'could not write',
    cause: { type: 'Error', message: 'refused', code: '23505' },
  });
  expect(JSON.stringify(told)).not.toContain('hush');
  expect(describeFault({ secret: 'hush' })).toBe('not an error');
});

test('causes that go on and on are cut off', () => {
  const error = new Error('it');
  error.cause = error;
  expect(JSON.stringify(describeFault(error)).length).toBeLessThan(20_000);
});
