import { inSyncSpan, isTracing } from '#platform/telemetry/tracing.ts';
import type { Projection } from '#projections/define-projection.ts';

/** An event that is older is met again by a rebuild, and its trace is long over. */
const FRESH_MS = 60_000;

/** The same projections, with a span in the trace of each event that was traced. Untouched where nothing is traced. */
export const tracedProjections = (projections: readonly Projection[]): readonly Projection[] => {
  if (!isTracing()) return projections;
  return projections.map((projection) => ({
    ...projection,
    project: (event) => {
      const parent = event.metadata.traceparent;
      if (parent === undefined || Date.now() - event.recordedAt.getTime() > FRESH_MS) {
        return projection.project(event);
      }
      const attributes = { type: event.type, position: String(event.position) };
      return inSyncSpan(`project ${projection.name}`, { kind: 'consumer', parent, attributes }, () =>
        projection.project(event),
      );
    },
  }));
};
