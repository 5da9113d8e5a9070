import { ClaimToCheck } from '#contracts/resources/corpus/coverage.ts';
import { checkClaim as checkClaimEndpoint } from '#operations/claims.ts';
import { NOT_SEEN, NO_MONEY, structuredResult, timesOf } from '../output/result.ts';
import { OBSERVED_IN_FETCH_MAX, separate } from '../output/observed.ts';
import { tool } from './define-tool.ts';

const UNDECIDED = 'State a claim only if its verdict is `supported`. `not_observable` is neither yes nor no.';

export const checkClaim = tool({
  name: 'check_claim',
  title: 'Check a claim',
  description:
    'Call it before you state a figure of a brand. Returns whether what was observed supports the claim, contradicts it or decides neither, with the bounds of the figure, the reason and the address of the proof. Changes nothing.',
  input: ClaimToCheck,
  output: 'structured',
  kind: 'reader',
  scopes: () => ['brands:read'],
  cost: () => 1,
  run: async (claim, { call, baseUrl, now }) => {
    const { data, asOf } = await call(checkClaimEndpoint, { body: claim });
    return structuredResult({
      checked: separate(data, { maxLength: OBSERVED_IN_FETCH_MAX, baseUrl, isOwn: true }),
      ...timesOf([asOf], now),
      notes: [UNDECIDED, NOT_SEEN, NO_MONEY],
    });
  },
});
