import type { OperatorBasis } from '#contracts/observations/operator-record.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `operator-<operatorId>`: domains and social pages that a company was observed with. */
export const OPERATOR = 'operator';
export const operatorStream = (operatorId: string): string => `${OPERATOR}-${operatorId}`;

/** The company was observed for the first time or with another country. */
export type OperatorNamed = Event<
  'OperatorNamed',
  {
    readonly operator_id: string;
    readonly name: string;
    readonly country: string | null;
    readonly observed_at: string;
  }
>;

export type OperatorDomain = { readonly domain: string; readonly brand_id: string };

/** Associations that one basis added and removed since its last record. */
export type OperatorAssociationsChanged = Event<
  'OperatorAssociationsChanged',
  {
    readonly operator_id: string;
    readonly basis: OperatorBasis;
    readonly observed_at: string;
    readonly domains_added: readonly OperatorDomain[];
    readonly domains_removed: readonly OperatorDomain[];
    readonly pages_added: readonly string[];
    readonly pages_removed: readonly string[];
  }
>;

export type OperatorEvent = OperatorNamed | OperatorAssociationsChanged;

/** Schema versions: each type's upcasters, from version 1 on. */
export const operatorVersions: EventVersions<OperatorEvent> = {
  OperatorNamed: [],
  OperatorAssociationsChanged: [],
};
