import type { OperatorBasis } from '#contracts/observations/operator-record.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `operator-<operatorId>`: domains and social pages that a company was observed with. */
export const OPERATOR = 'operator';
export const operatorStream = (operatorId: string): string => `${OPERATOR}-${operatorId}`;

/** The company was observed for the first time, with another name or country, or later than before. */
export type OperatorNamed = Event<
  'OperatorNamed',
  {
    readonly operator_id: string;
    readonly name: string;
    readonly country: string | null;
    readonly observed_at: string;
    /** Fields that the record states; the other is as recorded before. Absent in events of earlier releases. */
    readonly stated?: readonly ('name' | 'country')[];
  }
>;

export type OperatorDomain = { readonly domain: string; readonly brand_id: string };

/** Associations that one basis added and removed since its last record. All lists are empty when a newer record is the same. */
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
    /** Fields of the company that the record states as before, with a newer time. Absent when none. */
    readonly confirmed?: readonly ('name' | 'country')[];
  }
>;

export type OperatorEvent = OperatorNamed | OperatorAssociationsChanged;

/** Schema versions: each type's upcasters, from version 1 on. */
export const operatorVersions: EventVersions<OperatorEvent> = {
  OperatorNamed: [],
  OperatorAssociationsChanged: [],
};
