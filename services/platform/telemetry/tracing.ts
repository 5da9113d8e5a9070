import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import { secret } from '../settings.ts';

/**
 * Settings of tracing, which is off without an endpoint. When it is off, OpenTelemetry is not loaded and each function
 * here is one comparison. The trace context travels as W3C `traceparent`: in headers of requests and messages, and in
 * the metadata of events.
 */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('OTLP/HTTP endpoint for spans, without `/v1/traces`; no tracing when not set.'),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    z.string().optional(),
    'Headers of the span exporter, comma-separated `name=value`.',
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
  /** `traceparent` of the parent. Default: the enclosing span; without one, a new trace starts. */
  readonly parent?: string | undefined;
  readonly attributes?: SpanAttributes;
};

/** A started span. */
export type RunningSpan = {
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  /** Ends the span. `failure`: the class of the error only, because messages can hold data of a sender. */
  end(failure?: string): void;
};

export type Tracer = { start(name: string, input: SpanInput): RunningSpan };

const enclosingSpan = new AsyncLocalStorage<RunningSpan>();
let tracer: Tracer | null = null;

/** Sets the tracer. The SDK adapter calls it at start, and with `null` at shutdown. */
export const useTracer = (newTracer: Tracer | null): void => {
  tracer = newTracer;
};

export const isTracing = (): boolean => tracer !== null;

/** Returns the `traceparent` of the enclosing span, or `undefined` when there is none or tracing is off. */
export const currentTraceparent = (): string | undefined =>
  tracer === null ? undefined : enclosingSpan.getStore()?.traceparent;

const failureOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');

/** Runs `work` in a span and makes it the enclosing span. `work` receives `null` when tracing is off. */
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

/** Runs synchronous `work` in a span. The span does not become the enclosing span. */
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
