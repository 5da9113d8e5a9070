import { type Projection, projection } from '#projections/define-projection.ts';
import type { Counted } from '../../projector/counting-projection.ts';

/** Projection whose totals show a batch that is applied twice. */

const counter = (name: string): Projection =>
  projection<Counted>({
    name,
    version: 1,
    prefixes: ['counted-'],
    schema: new URL('./counter.sql', import.meta.url),
    statements: {},
    project: ({ data }) => [
      { kind: 'increment', table: 'counter', key: { name: data.name }, by: { total: data.by } },
    ],
  });

export const COUNTERS = [counter('first'), counter('second'), counter('third')] as const;
