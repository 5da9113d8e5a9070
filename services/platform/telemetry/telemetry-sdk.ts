import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind as OtelKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../logger.ts';
import { startMetricsExport } from './metrics-export.ts';
import { type RunningSpan, type SpanKind, type TracingSettings, useTracer } from './tracing.ts';

// Only `run-process.ts` loads this adapter, when an endpoint is set.

const SERVICE_PREFIX = 'ad-intelligence-';
const EXPORT_EVERY_MS = 2_000;
const EXPORT_TIMEOUT_MS = 5_000;
/** Further spans are dropped while the receiver is unavailable. */
const QUEUED_SPANS_MAX = 4_096;
/** Limit of the last export at shutdown, within its eight seconds. */
const FLUSH_LIMIT_MS = 2_000;

const KINDS: Readonly<Record<SpanKind, OtelKind>> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  consumer: OtelKind.CONSUMER,
  internal: OtelKind.INTERNAL,
};

/** W3C Trace Context, section 3.2. Any other text starts a new trace. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

const contextOf = (traceparent: string | undefined): Context => {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const spanContext: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  };
  return trace.isSpanContextValid(spanContext)
    ? trace.setSpanContext(ROOT_CONTEXT, spanContext)
    : ROOT_CONTEXT;
};

const traceparentOf = (span: Span): string => {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
};

const runningSpanOf = (span: Span): RunningSpan => ({
  traceparent: traceparentOf(span),
  set: (attributes) => void span.setAttributes(attributes),
  end: (failure) => {
    if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
    span.end();
  },
});

/** Spans and metrics of one process; both are exported a last time at shutdown. */
export const startTelemetry = (name: string, settings: TracingSettings, log: Log): AsyncDisposable => {
  const endpoint = (settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? '').replace(/\/+$/, '');
  const resource = defaultResource().merge(
    resourceFromAttributes({
      'service.name': `${SERVICE_PREFIX}${name}`,
      'service.namespace': 'ad-intelligence',
    }),
  );
  const metrics = startMetricsExport(endpoint, resource, log);
  // The packages themselves read headers, resource attributes and other options from the standard OTEL_* variables.
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.OTEL_TRACES_SAMPLER_ARG) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        maxQueueSize: QUEUED_SPANS_MAX,
      }),
    ],
  });
  const tracer = provider.getTracer('ad-intelligence');
  useTracer({
    start: (spanName, { kind = 'internal', parent, attributes = {} }) =>
      runningSpanOf(tracer.startSpan(spanName, { kind: KINDS[kind], attributes }, contextOf(parent))),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      useTracer(null);
      const deadline = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_LIMIT_MS).unref());
      await Promise.race([
        Promise.all([
          provider.shutdown().catch((error: unknown) => log.warn({ err: error }, 'final span export failed')),
          metrics[Symbol.asyncDispose](),
        ]),
        deadline,
      ]);
    },
  };
};
