import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  PageLinkObserved,
  PageProfileObserved,
  SocialPageEvent,
} from '#contracts/events/corpus/social-page.ts';
import {
  PageClaim,
  PageRole,
  servableRole,
  SocialPageLink,
} from '#contracts/observations/social-page-link.ts';
import { SocialPageProfile } from '#contracts/observations/social-page-profile.ts';
import { brandIdOf } from '#domain/ids.ts';
import { recordPageLink, recordPageProfile, socialPage } from '#domain/corpus/social-page.ts';
import { given } from '#tests/dsl/deciders.ts';

const BRAND = brandIdOf('shop.example');
const PAGE = '100000001';
const at = (day: number): string => `2026-05-${String(day).padStart(2, '0')}T10:00:00.000Z`;

const link = (fields: Partial<SocialPageLink> = {}): SocialPageLink => ({
  type: 'social_page.link',
  brand_domain: 'shop.example',
  page_id: PAGE,
  page_name: 'Shop',
  observed_at: at(1),
  role: 'CREATOR',
  confidence: 0.9,
  linked: true,
  ...fields,
});
const about = { page_id: PAGE, page_name: 'Shop', brand_id: BRAND };
const linked: SocialPageEvent = {
  type: 'PageLinked',
  data: { ...about, role: 'CREATOR', confidence: 0.9, observed_at: at(1) },
};
const observedLink = (day: number, status: PageLinkObserved['data']['status']): PageLinkObserved => ({
  type: 'PageLinkObserved',
  data: {
    page_id: PAGE,
    brand_id: BRAND,
    status,
    claim: 'CREATOR',
    confidence: 0.9,
    observed_at: at(day),
    page_name: 'Shop',
  },
});
const quarantined: SocialPageEvent = {
  type: 'PageLinkQuarantined',
  data: { ...about, claim: 'CREATOR', confidence: 0.9, observed_at: at(2) },
};

describe('the role of a page link', () => {
  it.each(['OWNER', 'AGENCY', 'AMBASSADOR', 'EMPLOYEE'] as const)(
    'is UNVERIFIED for the claim %s, and the claim is stored',
    (role) => {
      given(socialPage)
        .when(recordPageLink(link({ role }), BRAND))
        .records({ ...linked, data: { ...linked.data, role: 'UNVERIFIED', claim: role } });
    },
  );

  it('is UNVERIFIED below the minimum confidence', () => {
    given(socialPage)
      .when(recordPageLink(link({ confidence: 0.49 }), BRAND))
      .records({
        type: 'PageLinked',
        data: { ...about, role: 'UNVERIFIED', claim: 'CREATOR', confidence: 0.49, observed_at: at(1) },
      });
  });

  it('is one of the listed roles, for any claim', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PageClaim.options), fc.double({ min: 0, max: 1 }), (claim, confidence) =>
        PageRole.options.includes(servableRole(claim, confidence)),
      ),
    );
  });
});

describe('a quarantined page link', () => {
  it('is recorded for pages that were and were not linked before', () => {
    const held = link({ quarantined: true, observed_at: at(2) });
    given(socialPage).when(recordPageLink(held, BRAND)).records(quarantined);
    given(socialPage, linked).when(recordPageLink(held, BRAND)).records(quarantined);
  });

  it('becomes a link when the quarantine ends, and may be unlinked', () => {
    given(socialPage, quarantined)
      .when(recordPageLink(link({ observed_at: at(3), quarantined: false }), BRAND))
      .records({ ...linked, data: { ...linked.data, observed_at: at(3) } });
    given(socialPage, quarantined)
      .when(recordPageLink(link({ observed_at: at(3), linked: false }), BRAND))
      .records({ type: 'PageUnlinked', data: { page_id: PAGE, brand_id: BRAND, observed_at: at(3) } });
  });

  it('stays quarantined after an older observation, which is recorded as history', () => {
    given(socialPage, quarantined)
      .when(recordPageLink(link({ observed_at: at(1) }), BRAND))
      .records(observedLink(1, 'linked'));
  });
});

describe('the history of a page link', () => {
  const unlinked: SocialPageEvent = {
    type: 'PageUnlinked',
    data: { page_id: PAGE, brand_id: BRAND, observed_at: at(4) },
  };

  it('has each later observation with the same values', () => {
    given(socialPage, linked)
      .when(recordPageLink(link({ observed_at: at(3) }), BRAND))
      .records(observedLink(3, 'linked'));
    given(socialPage, linked, observedLink(3, 'linked'))
      .when(recordPageLink(link({ observed_at: at(3) }), BRAND))
      .records();
    given(socialPage, linked, unlinked)
      .when(recordPageLink(link({ observed_at: at(5), linked: false }), BRAND))
      .records(observedLink(5, 'unlinked'));
  });

  it('has an older end of a link that was observed again since, and the link holds', () => {
    const confirmed = [linked, observedLink(3, 'linked'), observedLink(2, 'unlinked')];
    given(socialPage, linked, observedLink(3, 'linked'))
      .when(recordPageLink(link({ observed_at: at(2), linked: false }), BRAND))
      .records(observedLink(2, 'unlinked'));
    given(socialPage, ...confirmed)
      .when(recordPageLink(link({ observed_at: at(6), linked: false }), BRAND))
      .records({ ...unlinked, data: { ...unlinked.data, observed_at: at(6) } });
  });

  it('does not link a page whose end was observed before the older link arrived', () => {
    given(socialPage, observedLink(4, 'unlinked'))
      .when(recordPageLink(link({ observed_at: at(1) }), BRAND))
      .records(observedLink(1, 'linked'));
  });

  it('has an observation twice only if its values differ', () => {
    const known = [linked, unlinked, observedLink(2, 'linked')];
    given(socialPage, ...known)
      .when(recordPageLink(link({ observed_at: at(2) }), BRAND))
      .records();
    given(socialPage, ...known)
      .when(recordPageLink(link({ observed_at: at(2), linked: false }), BRAND))
      .records(observedLink(2, 'unlinked'));
  });

  it('ignores an observation older than the 400 newest', () => {
    const many = Array.from({ length: 400 }, (_, hour): SocialPageEvent => {
      const observed_at = new Date(Date.parse(at(2)) + hour * 3_600_000).toISOString();
      const { data } = observedLink(2, 'linked');
      return { type: 'PageLinkObserved', data: { ...data, observed_at } };
    });
    given(socialPage, { ...linked, data: { ...linked.data, observed_at: at(2) } }, ...many)
      .when(recordPageLink(link({ observed_at: at(1), linked: false }), BRAND))
      .records();
  });
});

const profile = (fields: Partial<SocialPageProfile> = {}): SocialPageProfile => ({
  type: 'social_page.profile',
  page_id: PAGE,
  observed_at: at(1),
  source: 'library',
  page_name: 'Shop',
  username: null,
  category: 'Shoe shop',
  verified: true,
  followers: 1_200,
  likes: 1_000,
  ...fields,
});
const observed = (data: Partial<PageProfileObserved['data']>): PageProfileObserved => ({
  type: 'PageProfileObserved',
  data: {
    page_id: PAGE,
    source: 'library',
    observed_at: at(1),
    changes: { page_name: 'Shop', category: 'Shoe shop', verified: true, followers: 1_200, likes: 1_000 },
    ...data,
  },
});

describe('recordPageProfile', () => {
  it('records only the changed fields, and ignores blanks', () => {
    given(socialPage).when(recordPageProfile(profile())).records(observed({}));
    given(socialPage, observed({}))
      .when(recordPageProfile(profile({ observed_at: at(2), followers: 1_300, category: null })))
      .records(
        observed({
          observed_at: at(2),
          changes: { page_name: 'Shop', followers: 1_300 },
          confirmed: ['verified', 'likes'],
        }),
      );
  });

  it('records that nothing changed, so that an older profile overwrites nothing', () => {
    const again = observed({
      observed_at: at(3),
      changes: { page_name: 'Shop' },
      confirmed: ['category', 'verified', 'followers', 'likes'],
    });
    given(socialPage, observed({}))
      .when(recordPageProfile(profile({ observed_at: at(3) })))
      .records(again);
    given(socialPage, observed({}), again)
      .when(recordPageProfile(profile({ observed_at: at(2), followers: 7 })))
      .records();
  });

  it('keeps the profile of each source apart when sources disagree', () => {
    given(socialPage, observed({}))
      .when(recordPageProfile(profile({ source: 'page', followers: 900, observed_at: at(1) })))
      .records(
        observed({
          source: 'page',
          changes: { page_name: 'Shop', category: 'Shoe shop', verified: true, followers: 900, likes: 1_000 },
        }),
      );
    given(socialPage, observed({}), observed({ source: 'page', changes: { followers: 900 } }))
      .when(recordPageProfile(profile()))
      .records();
  });

  it('takes from an older profile only the fields that no other of its source states', () => {
    given(socialPage, observed({ observed_at: at(5) }))
      .when(recordPageProfile(profile({ observed_at: at(4), followers: 1 })))
      .records();
    given(socialPage, observed({ observed_at: at(5) }))
      .when(recordPageProfile(profile({ observed_at: at(4), followers: 1, username: 'the.shop' })))
      .records(observed({ observed_at: at(4), changes: { username: 'the.shop' }, confirmed: [] }));
  });
});

describe('the observation schema', () => {
  it.each([
    ['an unknown claim', SocialPageLink, { ...link(), role: 'BOSS' }],
    ['a confidence over 1', SocialPageLink, { ...link(), confidence: 1.5 }],
    ['a page id that is none', SocialPageLink, { ...link(), page_id: 'shop' }],
    ['a negative count', SocialPageProfile, { ...profile(), followers: -1 }],
    ['part of a follower', SocialPageProfile, { ...profile(), followers: 1.5 }],
    ['no source', SocialPageProfile, { ...profile(), source: '' }],
    ['a blank name', SocialPageProfile, { ...profile(), page_name: ' ' }],
    ['a field nobody knows', SocialPageProfile, { ...profile(), reach: 5 }],
  ])('rejects %s', (_what, schema, input) => {
    expect(schema.safeParse(input).success).toBe(false);
  });
});

it('is folded within the time of a command when a page is linked to 20,000 brands', () => {
  const BRANDS = 20_000;
  const links = Array.from(
    { length: BRANDS },
    (_, number): SocialPageEvent => ({
      type: 'PageLinked',
      data: {
        page_id: '100000001',
        page_name: null,
        brand_id: `brand ${number}`,
        role: 'CREATOR',
        confidence: 0.9,
        observed_at: '2026-05-01T10:00:00Z',
      },
    }),
  );
  expect(links.reduce(socialPage.evolve, socialPage.initial).links.size).toBe(BRANDS);
});
