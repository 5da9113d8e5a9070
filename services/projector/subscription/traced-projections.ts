import { inSyncSpan, isTracing } from '#platform/telemetry/tracing.ts';
import type { Projection } from '#projections/define-projection.ts';

/** Older events come from a rebuild, and their traces have ended. */
const FRESH_MS = 60_000;

/** Gives each event with a trace a span. Returns the projections unchanged if tracing is off. */
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
