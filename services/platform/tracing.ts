import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import { secret } from './config.ts';

/**
 * Spans, where a setting asks for them. Without it nothing of OpenTelemetry is loaded, and each function here is one
 * comparison. What is one trace is carried as W3C `traceparent`: in the headers of a request or a message, and in the
 * metadata of facts.
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

/** Traces of one batch that get a span each; a batch of a catch-up may hold thousands. */
const TRACES_PER_BATCH_MAX = 32;

/** Runs `work` for facts, as a span in each of the traces that they came from. */
export const inSpansOf = async <T>(
  name: string,
  facts: readonly { readonly metadata?: { readonly traceparent?: string } }[],
  attributes: SpanAttributes,
  work: () => Promise<T>,
): Promise<T> => {
  if (tracer === null) return work();
  const parents = new Set<string>();
  for (const { metadata } of facts) {
    if (metadata?.traceparent !== undefined) parents.add(metadata.traceparent);
    if (parents.size >= TRACES_PER_BATCH_MAX) break;
  }
  const spans = [...parents].map((parent) => tracer?.start(name, { kind: 'consumer', parent, attributes }));
  try {
    const result = await work();
    for (const span of spans) span?.end();
    return result;
  } catch (error) {
    for (const span of spans) span?.end(failureOf(error));
    throw error;
  }
};
