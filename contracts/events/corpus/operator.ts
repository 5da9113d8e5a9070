import type { OperatorBasis } from '#contracts/observations/operator-record.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `operator-<operatorId>`: domains and social pages that a company was observed with. */
export const OPERATOR = 'operator';
export const operatorStream = (operatorId: string): string => `${OPERATOR}-${operatorId}`;

export type OperatorNamed = Event<
  'OperatorNamed',
  {
    readonly operator_id: string;
    readonly name: string;
    readonly country: string | null;
    readonly observed_at: string;
    /** Fields that the record states; the other is as before. */
    readonly stated: readonly ('name' | 'country')[];
  }
>;

export type OperatorDomain = { readonly domain: string; readonly brand_id: string };

/** Changes of one basis since its last record. All lists are empty when a newer record is the same. */
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
    /** Fields that are stated unchanged at a later time. Absent when none. */
    readonly confirmed?: readonly ('name' | 'country')[];
  }
>;

export type OperatorEvent = OperatorNamed | OperatorAssociationsChanged;

export const operatorVersions: EventVersions<OperatorEvent> = {
  OperatorNamed: [],
  OperatorAssociationsChanged: [],
};
