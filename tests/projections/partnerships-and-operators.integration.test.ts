import { describe, expect, it } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { derivedId } from '#domain/ids.ts';
import { operators } from '#projections/operators/project.ts';
import { findOperator, listOperators, listOperatorsOfBrand } from '#projections/operators/read.ts';
import { partnerships } from '#projections/partnerships/project.ts';
import { listPartnerships } from '#projections/partnerships/read.ts';
import { given } from '../dsl/projections.ts';
import {
  associate,
  at,
  brand,
  comeBack,
  detail,
  idOf,
  link,
  nameOperator,
  orders,
  parsed,
  publish,
  scanned,
  start,
  stop,
} from './fixtures/network-events.ts';

const [OWN, MAYA, LUIS, AMARA] = ['100000001', '100000002', '100000003', '100000004'] as const;
const ad = (place: number): string => `90000000${String(place).padStart(2, '0')}`;
const named = (page_id: string | null, page_name: string) => ({ page_id, page_name });

describe('partnerships', () => {
  const shown = (name: string) => async (db: ReadDatabase) =>
    parsed((await listPartnerships(db, idOf(name))).items).map(
      ({ creator, ads, brand_page_ads, creator_page_ads, active_ads }) => [
        (creator as { page_id: string | null; page_name: string }).page_id,
        (creator as { page_id: string | null; page_name: string }).page_name,
        [ads, brand_page_ads, creator_page_ads, active_ads],
      ],
    );

  it('merges both directions per creator, most ads first', async () => {
    const events = [
      link('a', OWN),
      start('a', ad(1), { page: OWN, partner: named(MAYA, 'Maya') }),
      start('a', ad(2), { page: MAYA, partner: named(OWN, 'Shop') }),
      // Attributed to another brand, but the page belongs to this one.
      start('b', ad(3), { page: MAYA, partner: named(OWN, 'Shop') }),
      // A creator named without an id: merged with the creator of the same name that has one.
      start('a', ad(4), { page: OWN, partner: named(null, 'page 100000002') }),
      start('a', ad(5), { page: OWN, partner: named(null, 'Luis') }),
      start('a', ad(6), { partner: named(LUIS, 'Luis') }),
      start('a', ad(7), { page: AMARA, partner: named(null, 'Somebody') }),
      // Not counted: an ad without a partner, and one between two own pages.
      start('a', ad(8), { page: OWN }),
      start('a', ad(9), { page: OWN, partner: named(OWN, 'Shop') }),
      scanned('a', 9),
      scanned('b', 9),
    ];
    for (const order of orders(events)) {
      await given(order)
        .into(partnerships)
        .shows(shown('a'), [
          [MAYA, 'Maya', [4, 2, 2, 4]],
          [LUIS, 'Luis', [2, 2, 0, 2]],
          [AMARA, `Page ${AMARA}`, [1, 0, 1, 1]],
        ] as never);
    }
  });

  it('counts the last 365 days before the brand’s own newest scan', async () => {
    const partner = named(MAYA, 'Maya');
    const events = [
      link('a', OWN),
      start('a', ad(1), { page: OWN, partner, day: 1 }),
      start('a', ad(2), { page: OWN, partner, day: 1 }),
      start('a', ad(3), { page: OWN, partner: named(LUIS, 'Luis'), day: 1 }),
      // Last seen one day too early.
      stop('a', ad(1), { page: OWN, day: 36 }),
      stop('a', ad(3), { page: OWN, day: 37 }),
    ];
    const later = [...events, scanned('a', 36 + 364 + 1), comeBack('a', ad(1), { page: OWN, day: 402 })];
    await given([...events, scanned('a', 36 + 364)])
      .into(partnerships)
      .shows(shown('a'), [
        [MAYA, 'Maya', [1, 1, 0, 1]],
        [LUIS, 'Luis', [1, 1, 0, 0]],
      ] as never);
    await given([...later, scanned('a', 402)])
      .into(partnerships)
      .shows(shown('a'), [[MAYA, 'Maya', [2, 2, 0, 2]]] as never);
  });

  it('lists partnerships of a brand that was never scanned, if ads of others name its page', async () => {
    const events = [
      link('c', OWN),
      start('b', ad(1), { page: MAYA, partner: named(OWN, 'Shop') }),
      scanned('b', 9),
      start('d', ad(2), { page: LUIS, partner: named(OWN, 'Shop') }),
    ];
    await given(events)
      .into(partnerships)
      .shows(
        async (db) =>
          parsed((await listPartnerships(db, idOf('c'))).items).map(({ creator, ads, last_seen_on }) => [
            (creator as { page_id: string }).page_id,
            ads,
            last_seen_on,
          ]),
        [
          [MAYA, 1, at(9).slice(0, 10)],
          [LUIS, 1, at(3).slice(0, 10)],
        ] as never,
      );
  });

  it('counts an ad once, even if its page or partner is seen later', async () => {
    const events = [
      link('a', OWN),
      start('a', ad(1), { partner: named(null, 'Maya') }),
      start('a', ad(2), { page: OWN }),
      detail('a', ad(1), { page: OWN, day: 4 }),
      detail('a', ad(1), { page: OWN, day: 5, partner: named(MAYA, 'Maya') }),
      detail('a', ad(2), { page: OWN, day: 5, partner: named(MAYA, 'Maya') }),
      stop('a', ad(2), { page: OWN, day: 7 }),
      scanned('a', 8),
    ];
    await given(events)
      .into(partnerships)
      .shows(async (db) => parsed((await listPartnerships(db, idOf('a'))).items), [
        {
          creator: { page_id: MAYA, page_name: 'Maya' },
          ads: 2,
          brand_page_ads: 2,
          creator_page_ads: 0,
          active_ads: 1,
          first_seen_on: at(3).slice(0, 10),
          last_seen_on: at(8).slice(0, 10),
        },
      ] as never);
  });
});

describe('operators', () => {
  const [BIG, SMALL, PAGES] = ['big', 'small', 'pages'].map((name) => derivedId('operator', name)) as [
    string,
    string,
    string,
  ];
  const events = [
    brand('a'),
    brand('b', { is_public: false }),
    publish('b', true),
    brand('hidden'),
    publish('hidden', false),
    nameOperator(BIG, 'Big'),
    associate(BIG, { brands: ['a', 'b', 'hidden', 'unheard-of'] }),
    associate(BIG, { brands: ['a'], pages_added: [OWN], basis: 'filing', observed_at: at(5) }),
    nameOperator(SMALL, 'Small'),
    associate(SMALL, { brands: ['a', 'b'] }),
    associate(SMALL, { lost: ['b'], observed_at: at(6) }),
    nameOperator(PAGES, 'Pages'),
    associate(PAGES, { pages_added: [MAYA, LUIS] }),
  ];

  it('pages through operators with several domains or pages, largest first', async () => {
    for (const order of orders(events)) {
      await given(order)
        .into(operators)
        .shows(
          async (db) => {
            const first = await listOperators(db, { limit: 1, after: null });
            const rest = await listOperators(db, { limit: 5, after: first.next });
            return parsed([...first.items, ...rest.items]).map(({ name, domains, pages, public_brands }) => [
              name,
              domains,
              pages,
              public_brands,
            ]);
          },
          [
            ['Big', 4, 1, 2],
            ['Pages', 0, 2, 0],
          ] as never,
        );
    }
  });

  it('finds an operator by id, and by the domain of a brand', async () => {
    await given(events)
      .into(operators)
      .shows(
        async (db) => {
          const big = await findOperator(db, BIG);
          const [one] = parsed(big ? [big.item] : []) as unknown as Record<string, never>[];
          const ofBrand = async (name: string) =>
            parsed((await listOperatorsOfBrand(db, idOf(name))).items).map(
              ({ name: of, bases, other_brands }) => [
                of,
                bases,
                (other_brands as { name: string }[]).map((other) => other.name),
              ],
            );
          return {
            domains: one?.['domain_associations'],
            pages: one?.['page_associations'],
            brands: ((one?.['brands'] ?? []) as { name: string }[]).map(({ name }) => name),
            as_of: big?.as_of,
            a: await ofBrand('a'),
            b: await ofBrand('b'),
            nobody: await findOperator(db, derivedId('operator', 'nobody')),
          };
        },
        {
          domains: [
            { domain: 'a.example', bases: ['filing', 'site_imprint'] },
            { domain: 'b.example', bases: ['site_imprint'] },
            { domain: 'hidden.example', bases: ['site_imprint'] },
            { domain: 'unheard-of.example', bases: ['site_imprint'] },
          ],
          pages: [{ page_id: OWN, bases: ['filing'] }],
          brands: ['a', 'b'],
          as_of: at(5),
          a: [
            ['Big', ['filing', 'site_imprint'], ['b']],
            ['Small', ['site_imprint'], []],
          ],
          b: [['Big', ['site_imprint'], ['a']]],
          nobody: null,
        } as never,
      );
    expect(BIG).not.toBe(SMALL);
  });
});
