import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';

/**
 * Off without an endpoint: OpenTelemetry is then not loaded and each function is one comparison. The context travels as
 * W3C `traceparent` in headers and event metadata.
 */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'OTLP/HTTP endpoint for spans and metrics, without `/v1/traces`; neither is sent when not set.',
    ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      'Share of new traces that are sampled, 0 to 1; a trace that comes with a request keeps its own decision.',
    ),
} as const;
export type TracingSettings = {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
};

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export type SpanInput = {
  readonly kind?: SpanKind;
  /** `traceparent`; default: the enclosing span, or else a new trace. */
  readonly parent?: string | undefined;
  readonly attributes?: SpanAttributes;
};

export type RunningSpan = {
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  /** `failure`: class of the error only, because messages can hold a sender's data. */
  end(failure?: string): void;
};

export type Tracer = { start(name: string, input: SpanInput): RunningSpan };

const enclosingSpan = new AsyncLocalStorage<RunningSpan>();
let tracer: Tracer | null = null;

/** The SDK adapter calls it at start, and with `null` at shutdown. */
export const useTracer = (newTracer: Tracer | null): void => {
  tracer = newTracer;
};

export const isTracing = (): boolean => tracer !== null;

/** `undefined` without an enclosing span, or when tracing is off. */
export const currentTraceparent = (): string | undefined =>
  tracer === null ? undefined : enclosingSpan.getStore()?.traceparent;

const failureOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');

/** Makes the span the enclosing one. `work` receives `null` when tracing is off. */
export const inSpan = async <T>(
  name: string,
  input: SpanInput,
  work: (span: RunningSpan | null) => Promise<T>,
): Promise<T> => {
  if (tracer === null) return work(null);
  const parent = input.parent ?? enclosingSpan.getStore()?.traceparent;
  const span = tracer.start(name, { ...input, parent });
  try {
    const result = await enclosingSpan.run(span, () => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
};

/** Does not become the enclosing span. */
export const inSyncSpan = <T>(name: string, input: SpanInput, work: () => T): T => {
  if (tracer === null) return work();
  const span = tracer.start(name, input);
  try {
    const result = work();
    span.end();
    return result;
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
};
