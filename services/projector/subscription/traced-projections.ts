import { inSyncSpan, isTracing } from '#platform/telemetry/tracing.ts';
import type { Projection } from '#projections/define-projection.ts';

/** A fact that is older is met again by a rebuild, and its trace is long over. */
const FRESH_MS = 60_000;

/** The same projections, with a span in the trace of each fact that was traced. Untouched where nothing is traced. */
export const tracedProjections = (projections: readonly Projection[]): readonly Projection[] => {
  if (!isTracing()) return projections;
  return projections.map((projection) => ({
    ...projection,
    project: (fact) => {
      const parent = fact.metadata.traceparent;
      if (parent === undefined || Date.now() - fact.recordedAt.getTime() > FRESH_MS) {
        return projection.project(fact);
      }
      const attributes = { type: fact.type, position: String(fact.position) };
      return inSyncSpan(`project ${projection.name}`, { kind: 'consumer', parent, attributes }, () =>
        projection.project(fact),
      );
    },
  }));
};
