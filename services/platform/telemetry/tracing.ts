import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import { secret } from '../settings.ts';

/**
 * Spans, where a setting asks for them. Without it nothing of OpenTelemetry is loaded, and each function here is one
 * comparison. What is one trace is carried as W3C `traceparent`: in the headers of a request or a message, and in the
 * metadata of events.
 */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where spans go, by OTLP over HTTP, without `/v1/traces`; no tracing when not set.'),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    z.string().optional(),
    'Headers of the exporter, `name=value` with commas between; read by its package.',
  ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      'Share of traces that begin here and are kept; one that came with a request is kept as it says.',
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
  /** What it continues; the span around it when not given, and a trace of its own when there is none. */
  readonly parent?: string | undefined;
  readonly attributes?: SpanAttributes;
};

/** A span that runs. */
export type RunningSpan = {
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  /** Of a failure, its class alone: messages may hold what somebody sent. */
  end(failure?: string): void;
};

export type Tracer = { start(name: string, input: SpanInput): RunningSpan };

const around = new AsyncLocalStorage<RunningSpan>();
let tracer: Tracer | null = null;

/** Called once, by what brings the SDK. */
export const useTracer = (given: Tracer | null): void => {
  tracer = given;
};

export const isTracing = (): boolean => tracer !== null;

/** What is recorded, published or called right now belongs to this. */
export const currentTraceparent = (): string | undefined =>
  tracer === null ? undefined : around.getStore()?.traceparent;

const failureOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');

/** Runs `work` as a span. `null` is handed to it where nothing is traced. */
export const inSpan = async <T>(
  name: string,
  input: SpanInput,
  work: (span: RunningSpan | null) => Promise<T>,
): Promise<T> => {
  if (tracer === null) return work(null);
  const parent = input.parent ?? around.getStore()?.traceparent;
  const span = tracer.start(name, { ...input, parent });
  try {
    const result = await around.run(span, () => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
};

/** The same for what takes no time of its own to wait for. */
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
