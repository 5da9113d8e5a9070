import type { OperatorEvent } from '#contracts/events/corpus/operator.ts';
import type { OperatorBasis, OperatorRecord } from '#contracts/observations/operator-record.ts';
import { compareFields, type FieldTimes, isNews, withoutBlanks, withTimes } from './dated-fields.ts';
import type { Decider } from '../decider.ts';
import { brandIdOf, derivedId } from '../ids.ts';

type Associations = {
  readonly observed_at: string;
  readonly domains: ReadonlySet<string>;
  readonly pages: ReadonlySet<string>;
};

/** `null` when no record has named the company. */
export type OperatorState = {
  readonly name: string;
  readonly country: string | null;
  readonly times: FieldTimes;
  readonly associations: ReadonlyMap<OperatorBasis, Associations>;
} | null;

const initial = null as OperatorState;

const NO_ASSOCIATIONS: Associations = { observed_at: '', domains: new Set(), pages: new Set() };

const without = (from: ReadonlySet<string>, removed: readonly string[]): Set<string> => {
  const left = new Set(from);
  for (const item of removed) left.delete(item);
  return left;
};

const evolve = (state: OperatorState, event: OperatorEvent): OperatorState => {
  switch (event.type) {
    case 'OperatorNamed': {
      const { name, country, observed_at, stated } = event.data;
      const times = withTimes(state?.times ?? {}, observed_at, stated);
      return { name, country, times, associations: state?.associations ?? new Map() };
    }
    case 'OperatorAssociationsChanged': {
      if (state === null) return state;
      const { basis, observed_at, domains_added, domains_removed, pages_added, pages_removed } = event.data;
      const existing = state.associations.get(basis) ?? NO_ASSOCIATIONS;
      const domains = without(
        existing.domains,
        domains_removed.map(({ domain }) => domain),
      );
      for (const { domain } of domains_added) domains.add(domain);
      const pages = without(existing.pages, pages_removed);
      for (const page of pages_added) pages.add(page);
      return {
        ...state,
        times: withTimes(state.times, observed_at, event.data.confirmed ?? []),
        associations: new Map(state.associations).set(basis, { observed_at, domains, pages }),
      };
    }
  }
};

export const operator: Decider<OperatorState, OperatorEvent> = { initial, evolve };

/** In any spacing and capitalisation. The legal form is part of the name. */
export const operatorIdOf = (name: string): string =>
  derivedId('operator', name.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim());

const domainsOf = (domains: readonly string[]) =>
  domains.map((domain) => ({ domain, brand_id: brandIdOf(domain) }));

/** Sorted, so that the order within a record does not matter. */
const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted();

const sortTextOf = (domains: readonly string[], pages: readonly string[]): string =>
  JSON.stringify([domains, pages]);

/** By a newer record of the basis, or one of the same time that sorts last. */
const isReplaced = (
  existing: Associations | undefined,
  observedAt: string,
  domains: readonly string[],
  pages: readonly string[],
): boolean => {
  if (existing === undefined) return false;
  if (observedAt !== existing.observed_at) return observedAt < existing.observed_at;
  return (
    sortTextOf(domains, pages) <= sortTextOf([...existing.domains].toSorted(), [...existing.pages].toSorted())
  );
};

/** The newest record of each basis counts, and for name and country the newest that states them. */
export const recordOperator =
  (record: OperatorRecord) =>
  (state: OperatorState): OperatorEvent[] => {
    const { observed_at, basis } = record;
    const operator_id = operatorIdOf(record.name);
    const recorded = withoutBlanks({ name: state?.name, country: state?.country });
    const stated = withoutBlanks({ name: record.name, country: record.country });
    const compared = compareFields({ values: recorded, times: state?.times ?? {} }, stated, observed_at);
    const { name = record.name, country = null } = { ...recorded, ...compared.changes };
    const fields = (['name', 'country'] as const).filter(
      (field) => compared.changes[field] !== undefined || compared.confirmed?.includes(field),
    );
    const named: OperatorEvent[] = isNews(compared)
      ? [{ type: 'OperatorNamed', data: { operator_id, name, country, observed_at, stated: fields } }]
      : [];
    const domains = distinct(record.domains);
    const pages = distinct(record.page_ids);
    if (isReplaced(state?.associations.get(basis), observed_at, domains, pages)) return named;
    const existing = state?.associations.get(basis) ?? NO_ASSOCIATIONS;
    const changes = {
      domains_added: domainsOf(domains.filter((domain) => !existing.domains.has(domain))),
      domains_removed: domainsOf(
        [...existing.domains].filter((domain) => !domains.includes(domain)).toSorted(),
      ),
      pages_added: pages.filter((page) => !existing.pages.has(page)),
      pages_removed: [...existing.pages].filter((page) => !pages.includes(page)).toSorted(),
    };
    // A record without a change is one event: the associations, which also confirm the name.
    const isConfirmed = fields.length > 0 && Object.keys(compared.changes).length === 0;
    const confirmed = isConfirmed ? { confirmed: fields } : {};
    return [
      ...(isConfirmed ? [] : named),
      {
        type: 'OperatorAssociationsChanged',
        data: { operator_id, basis, observed_at, ...changes, ...confirmed },
      },
    ];
  };
