import type { OperatorBasis } from '#contracts/observations/operator-record.ts';
import type { Event } from '../event.ts';

/** Stream `operator-<operatorId>`: what companies were observed to be associated with. */
export const OPERATOR = 'operator';
export const operatorStream = (operatorId: string): string => `${OPERATOR}-${operatorId}`;

/** First heard of, or with another country. */
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

/** What one basis names now and did not before, and what it names no longer. */
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
