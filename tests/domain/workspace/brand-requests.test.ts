import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '#contracts/errors.ts';
import type { BrandRequestEvent } from '#contracts/events/workspace/brand-request.ts';
import { PLANS } from '#contracts/values/access.ts';
import type { Plan } from '#contracts/events/workspace/workspace.ts';
import {
  ACCEPTED_AT_ONCE_MAX,
  BRAND_REQUESTS_MAX,
  BRAND_REQUESTS_OPEN_MAX,
} from '#contracts/resources/workspace/brand-request.ts';
import { brandIdOf } from '#domain/ids.ts';
import {
  type BrandRequestsState,
  acceptBrandRequest,
  brandRequestIdOf,
  brandRequests,
  countAcceptedByPlan,
  fulfilBrandRequest,
  isOpenRequest,
  refuseBrandRequest,
  requestBrand,
} from '#domain/workspace/brand-requests.ts';
import { given } from '#tests/dsl/deciders.ts';

const AT = '2026-11-20T09:00:00.000Z';
const workspace_id = 'ws_1';
const wish = {
  social_page_id: null,
  track: false,
  cadence: 'weekly',
  forecast: null,
  forecast_reason: 'None.',
} as const;
const idOf = (domain: string): string => brandRequestIdOf(workspace_id, domain);
const ask = (domain: string, plan: Plan = 'free', knownUrl: string | null = null) =>
  requestBrand({ ...wish, workspace_id, domain, plan, knownUrl, by: 'ada', at: AT });
const requested = (domain: string): BrandRequestEvent => ({
  type: 'BrandRequested',
  data: {
    ...wish,
    workspace_id,
    request_id: idOf(domain),
    brand_id: brandIdOf(domain),
    domain,
    requested_by: 'ada',
    requested_at: AT,
  },
});
const accepted = (domain: string, accepted_by: 'plan' | 'operator'): BrandRequestEvent => ({
  type: 'BrandRequestAccepted',
  data: { workspace_id, request_id: idOf(domain), accepted_by, accepted_at: AT },
});
const refused = (domain: string, reason: string): BrandRequestEvent => ({
  type: 'BrandRequestRefused',
  data: { workspace_id, request_id: idOf(domain), reason, refused_at: AT },
});
const fulfilled = (domain: string): BrandRequestEvent => ({
  type: 'BrandRequestFulfilled',
  data: { workspace_id, request_id: idOf(domain), slug: 'a', tracking: 'not_asked', fulfilled_at: AT },
});
const accept = (domain: string) => acceptBrandRequest({ workspace_id, request_id: idOf(domain), at: AT });
const refuse = (domain: string, reason = 'No shop.') =>
  refuseBrandRequest({ workspace_id, request_id: idOf(domain), reason, at: AT });
const fulfil = (domain: string) =>
  fulfilBrandRequest({
    workspace_id,
    request_id: idOf(domain),
    slug: 'a',
    tracking: 'not_asked',
    at: AT,
  });
const inPlan = (domain: string): readonly BrandRequestEvent[] => [
  requested(domain),
  accepted(domain, 'plan'),
];
const many = (
  count: number,
  of: (domain: string) => readonly BrandRequestEvent[],
): readonly BrandRequestEvent[] =>
  Array.from({ length: count }, (_, index) => of(`other-${index}.example`)).flat();

describe('requestBrand', () => {
  test('accepts a request within the allowance of the plan at once', () =>
    given(brandRequests)
      .when(ask('a.example'))
      .records(...inPlan('a.example')));
  test('leaves a request beyond the allowance to an operator', () =>
    given(brandRequests, ...inPlan('a.example'))
      .when(ask('b.example'))
      .records(requested('b.example')));
  test('accepts a request at once again when an earlier one is ready', () =>
    given(brandRequests, ...inPlan('a.example'), fulfilled('a.example'))
      .when(ask('b.example'))
      .records(...inPlan('b.example')));
  test('does not count what an operator accepted', () =>
    given(brandRequests, requested('a.example'), accepted('a.example', 'operator'))
      .when(ask('b.example'))
      .records(...inPlan('b.example')));
  test.each([[[]], [[refused('a.example', 'No.')]], [[fulfilled('a.example')]]])(
    'records nothing for a domain that was requested before',
    (later) =>
      given(brandRequests, ...inPlan('a.example'), ...later)
        .when(ask('a.example', 'pro', 'https://api/brand'))
        .records(),
  );
  test('refuses the domain of a known brand', () =>
    given(brandRequests)
      .when(ask('a.example', 'pro', 'https://api/brand'))
      .refuses('already_exists'));
  test('refuses a request when too many are open, and takes one when one of them is refused', () => {
    const full = many(BRAND_REQUESTS_OPEN_MAX, (domain) => [requested(domain)]);
    given(brandRequests, ...full)
      .when(ask('a.example'))
      .refuses('limit_reached');
    given(brandRequests, ...full, refused('other-0.example', 'No.'))
      .when(ask('a.example'))
      .records(...inPlan('a.example'));
  });
  test('refuses a request when the workspace has made too many', () =>
    given(brandRequests, ...many(BRAND_REQUESTS_MAX, (domain) => [requested(domain), fulfilled(domain)]))
      .when(ask('a.example'))
      .refuses('limit_reached'));
});

describe('operators', () => {
  test('accept a request that waits', () =>
    given(brandRequests, requested('a.example'))
      .when(accept('a.example'))
      .records(accepted('a.example', 'operator')));
  test('accept a refused request', () =>
    given(brandRequests, requested('a.example'), refused('a.example', 'No.'))
      .when(accept('a.example'))
      .records(accepted('a.example', 'operator')));
  test.each([[inPlan('a.example')], [[requested('a.example'), fulfilled('a.example')]]])(
    'accept nothing that is accepted or ready',
    (events) =>
      given(brandRequests, ...events)
        .when(accept('a.example'))
        .records(),
  );
  test('refuse a request that is being collected, and change the reason', () => {
    given(brandRequests, ...inPlan('a.example'))
      .when(refuse('a.example'))
      .records(refused('a.example', 'No shop.'));
    given(brandRequests, requested('a.example'), refused('a.example', 'Other.'))
      .when(refuse('a.example'))
      .records(refused('a.example', 'No shop.'));
  });
  test('cannot refuse what is ready', () =>
    given(brandRequests, requested('a.example'), fulfilled('a.example'))
      .when(refuse('a.example'))
      .refuses('changed_meanwhile'));
  test.each([
    ['accept', accept],
    ['refuse', refuse],
  ])('cannot %s an unknown request', (_name, decide) =>
    given(brandRequests).when(decide('a.example')).refuses('not_found'),
  );
});

describe('fulfilBrandRequest', () => {
  test.each([[[requested('a.example')]], [inPlan('a.example')]])('makes an open request ready', (events) =>
    given(brandRequests, ...events)
      .when(fulfil('a.example'))
      .records(fulfilled('a.example')),
  );
  test('leaves a refused request as it is', () =>
    given(brandRequests, requested('a.example'), refused('a.example', 'No.'))
      .when(fulfil('a.example'))
      .records());
});

describe('any order of commands', () => {
  const COMMANDS = { ask, accept, refuse, fulfil } as const;
  const step = fc.record({
    command: fc.constantFrom('ask', 'accept', 'refuse', 'fulfil'),
    domain: fc.nat(12).map((index) => `d${index}.example`),
  });
  const eventsOf = (
    state: BrandRequestsState,
    plan: Plan,
    { command, domain }: { command: keyof typeof COMMANDS; domain: string },
  ): readonly BrandRequestEvent[] => {
    try {
      return command === 'ask' ? ask(domain, plan)(state) : COMMANDS[command](domain)(state);
    } catch (error) {
      if (error instanceof Refusal) return [];
      throw error;
    }
  };

  test('keeps the allowance of the plan, ends with ready, and survives a snapshot', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(PLANS) as Plan[])),
        fc.array(step as fc.Arbitrary<{ command: keyof typeof COMMANDS; domain: string }>, { maxLength: 60 }),
        (plan, steps) => {
          let state = brandRequests.initial;
          for (const one of steps) {
            const before = state;
            state = eventsOf(state, plan, one).reduce(brandRequests.evolve, state);
            expect(countAcceptedByPlan(state)).toBeLessThanOrEqual(ACCEPTED_AT_ONCE_MAX[plan]);
            for (const [id, request] of before.requests) {
              if (request.status === 'ready') expect(state.requests.get(id)).toEqual(request);
            }
          }
          for (const [, request] of state.requests) {
            expect(request.slug === null).toBe(request.status !== 'ready');
            expect(request.reason === null).toBe(request.status !== 'refused');
            expect(request.decided_at !== null || isOpenRequest(request) || request.status === 'ready').toBe(
              true,
            );
          }
          const { encode, decode } = brandRequests.snapshot ?? expect.fail('no snapshot');
          const kept = decode(JSON.parse(JSON.stringify(encode(state))));
          expect([...kept.requests]).toEqual([...state.requests]);
        },
      ),
    );
  });
});
