import { expect, test } from 'vitest';
import { serializeError } from '#platform/logger.ts';

test('logs type, message, code, stack and causes of an error, and no other properties', () => {
  const cause = Object.assign(new Error('refused'), {
    code: '23505',
    detail: 'Key (email)=(hush)',
    where: 'hush',
  });
  const error = Object.assign(new TypeError('could not write', { cause }), {
    parameters: ['hush'],
    config: 'hush',
  });
  const logged = serializeError(error);
  expect(logged).toMatchObject({
    type: 'TypeError',
    message: 'could not write',
    cause: { type: 'Error', message: 'refused', code: '23505' },
  });
  expect(JSON.stringify(logged)).not.toContain('hush');
  expect(serializeError({ secret: 'hush' })).toBe('not an error');
});

test('limits the length of a circular chain of causes', () => {
  const error = new Error('it');
  error.cause = error;
  expect(JSON.stringify(serializeError(error)).length).toBeLessThan(20_000);
});
