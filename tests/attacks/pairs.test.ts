import fc from 'fast-check';
import { expect } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import { validateEndpointInput } from '#operations/endpoint/check-request.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { attack, tries } from './attack.ts';
import { pairRequest } from './pair-requests.ts';

const decoded = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, decodeURIComponent(value)]));

attack('two parameters that are wrong together are refused with a path, at every endpoint', () => {
  const counts = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(pairRequest, ({ operationId, path, query, body }) => {
      const endpoint = ENDPOINTS.find((one) => one.operationId === operationId);
      if (!endpoint) throw new Error(`${operationId} is documented, but not served`);
      try {
        validateEndpointInput(endpoint, {
          params: decoded(path),
          query: decoded(query),
          body: { value: body },
        });
        counts.accepted += 1;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        expect(error.code).toBe('invalid_input');
        expect(error.details.length).toBeGreaterThan(0);
        counts.refused += 1;
      }
    }),
    { numRuns: tries(5_000) },
  );
  expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(0);
  return `${counts.accepted} accepted, ${counts.refused} refused, 0 internal errors`;
});

attack('daily-activity with two texts that are no dates names both', () => {
  const endpoint = ENDPOINTS.find((one) => one.operationId === 'getBrandDailyActivity');
  const refusal = ((): unknown => {
    try {
      return (
        endpoint &&
        validateEndpointInput(endpoint, {
          params: { brandId: 'a' },
          query: { from: 'a', to: 'b' },
          body: { value: undefined },
        })
      );
    } catch (error) {
      return error;
    }
  })();
  expect(refusal).toMatchObject({ code: 'invalid_input' });
  const paths = new Set((refusal as Refusal).details.map(({ path }) => path));
  expect(paths).toEqual(new Set(['from', 'to']));
  return '400, from and to';
});
