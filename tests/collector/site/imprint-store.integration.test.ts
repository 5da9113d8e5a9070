import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OperatorRecord } from '#contracts/observations/operator-record.ts';
import { operator, type OperatorState, recordOperator } from '#domain/corpus/operator.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { createCollectorTables } from '#services/collector/collector-tables.ts';
import { createImprintStore } from '#services/collector/site/imprint-store.ts';
import { createTestDatabase } from '#tests/stack/database.ts';

const EARLIER = new Date('2026-05-01T08:00:00Z');
const LATER = new Date('2026-05-01T08:00:05Z');
const SITES_AT_ONCE = 8;

const resources = new AsyncDisposableStack();
let database: Database;
beforeAll(async () => {
  const created = await createTestDatabase();
  resources.defer(() => created.drop());
  database = openPool(created.url, SITES_AT_ONCE);
  resources.defer(() => database.end());
  await createCollectorTables(database);
});
afterAll(() => resources.disposeAsync());

const domainsAfter = (records: readonly OperatorRecord[]): readonly string[] => {
  let state: OperatorState = operator.initial;
  for (const record of records) {
    for (const event of recordOperator(record)(state)) state = operator.evolve(state, event);
  }
  return [...(state?.associations.get('site_imprint')?.domains ?? [])].toSorted();
};

test.each([
  ['at one time', EARLIER, EARLIER],
  ['one after the other', EARLIER, LATER],
  ['in another order than stored', LATER, EARLIER],
])(
  'a company has both sites in each order of its records, for sites read %s',
  async (name, first, second) => {
    const imprints = createImprintStore(database);
    const company = `Both ${name} GmbH`;
    const domains = ['one', 'two'].map((site) => `${site}-${name.replaceAll(' ', '-')}.example`);
    const records = [
      ...(await imprints.record({ domain: domains[0] as string, company, observedAt: first })),
      ...(await imprints.record({ domain: domains[1] as string, company, observedAt: second })),
    ];
    expect(domainsAfter(records)).toEqual(domains.toSorted());
    expect(domainsAfter(records.toReversed())).toEqual(domains.toSorted());
  },
);

test('a company has all sites in each order of its records, for sites stored at once', async () => {
  const imprints = createImprintStore(database);
  const domains = Array.from({ length: SITES_AT_ONCE }, (_, index) => `at-once-${index}.example`);
  const records = await Promise.all(
    domains.map((domain) => imprints.record({ domain, company: 'At Once Ltd', observedAt: EARLIER })),
  );
  expect(domainsAfter(records.flat())).toEqual(domains);
  expect(domainsAfter(records.flat().toReversed())).toEqual(domains);
});

test('companies that exchange their sites at once lose the sites that left', async () => {
  const imprints = createImprintStore(database);
  const names = ['Left Ltd', 'Right Ltd'];
  const store = (companies: readonly (string | undefined)[], observedAt: Date) =>
    Promise.all(
      companies.map((company, index) =>
        imprints.record({ domain: `exchanged-${index}.example`, company: company as string, observedAt }),
      ),
    );
  const records = [...(await store(names, EARLIER)), ...(await store(names.toReversed(), LATER))].flat();
  for (const [index, name] of names.entries()) {
    const own = records.filter((record) => record.name === name);
    expect(domainsAfter(own)).toEqual([`exchanged-${1 - index}.example`]);
    expect(domainsAfter(own.toReversed())).toEqual([`exchanged-${1 - index}.example`]);
  }
});

test('a site that is stored again for the same time gives the same records', async () => {
  const imprints = createImprintStore(database);
  const site = { domain: 'again.example', company: 'Again Ltd', observedAt: EARLIER };
  const records = await imprints.record(site);
  expect(await imprints.record(site)).toEqual(records);
});
