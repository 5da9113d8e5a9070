import type { OperatorEvent } from '#contracts/events/corpus/operator.ts';
import type { OperatorBasis, OperatorRecord } from '#contracts/observations/operator-record.ts';
import { brandIdOf, derivedId } from '../ids.ts';

type Named = {
  readonly observed_at: string;
  readonly domains: ReadonlySet<string>;
  readonly pages: ReadonlySet<string>;
};

/** Who a company is, and what each basis names for it. `null`: never heard of. */
export type OperatorState = {
  readonly name: string;
  readonly country: string | null;
  readonly observed_at: string;
  readonly named: ReadonlyMap<OperatorBasis, Named>;
} | null;

/** One company for one name, however it is spaced and capitalised. Its legal form is part of the name. */
export const operatorIdOf = (name: string): string =>
  derivedId('operator', name.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim());

const NOTHING: Named = { observed_at: '', domains: new Set(), pages: new Set() };

const without = (from: ReadonlySet<string>, removed: readonly string[]): Set<string> => {
  const left = new Set(from);
  for (const one of removed) left.delete(one);
  return left;
};

export const operator = {
  initial: null as OperatorState,
  evolve: (state: OperatorState, event: OperatorEvent): OperatorState => {
    switch (event.type) {
      case 'OperatorNamed': {
        const { name, country, observed_at } = event.data;
        return { name, country, observed_at, named: state?.named ?? new Map() };
      }
      case 'OperatorAssociationsChanged': {
        if (state === null) return state;
        const { basis, observed_at, domains_added, domains_removed, pages_added, pages_removed } = event.data;
        const known = state.named.get(basis) ?? NOTHING;
        const domains = without(
          known.domains,
          domains_removed.map(({ domain }) => domain),
        );
        for (const { domain } of domains_added) domains.add(domain);
        const pages = without(known.pages, pages_removed);
        for (const page of pages_added) pages.add(page);
        return { ...state, named: new Map(state.named).set(basis, { observed_at, domains, pages }) };
      }
    }
  },
};

const domainsOf = (domains: readonly string[]) =>
  domains.map((domain) => ({ domain, brand_id: brandIdOf(domain) }));

/** In one order and once each, so that the same record in another order says the same. */
const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted();

/** A record older than the last one of its basis changes nothing; a country that is not said neither. */
export const recordOperator =
  (record: OperatorRecord) =>
  (state: OperatorState): OperatorEvent[] => {
    const { observed_at, basis } = record;
    const operator_id = operatorIdOf(record.name);
    const events: OperatorEvent[] = [];
    const isNewer = state === null || observed_at >= state.observed_at;
    const country = (isNewer ? record.country : null) ?? state?.country ?? null;
    if (state === null || country !== state.country) {
      const name = state?.name ?? record.name;
      events.push({ type: 'OperatorNamed', data: { operator_id, name, country, observed_at } });
    }
    const known = state?.named.get(basis) ?? NOTHING;
    if (observed_at < known.observed_at) return events;
    const domains = distinct(record.domains);
    const pages = distinct(record.page_ids);
    const changes = {
      domains_added: domainsOf(domains.filter((domain) => !known.domains.has(domain))),
      domains_removed: domainsOf([...known.domains].filter((domain) => !domains.includes(domain)).toSorted()),
      pages_added: pages.filter((page) => !known.pages.has(page)),
      pages_removed: [...known.pages].filter((page) => !pages.includes(page)).toSorted(),
    };
    if (Object.values(changes).some((list) => list.length > 0)) {
      events.push({
        type: 'OperatorAssociationsChanged',
        data: { operator_id, basis, observed_at, ...changes },
      });
    }
    return events;
  };
