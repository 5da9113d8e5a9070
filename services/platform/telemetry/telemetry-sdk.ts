import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind as OtelKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type HrTime,
  ValueType,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../logger.ts';
import { type RunningSpan, type SpanKind, type TracingSettings, useTracer } from './tracing.ts';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import { JsonMetricsSerializer, MetricsExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { omit } from 'es-toolkit';
import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client';
import { meterProcess, registry } from './metrics.ts';

// Only `run-process.ts` loads this adapter, when an endpoint is set.

const METRICS_EVERY_MS = 15_000;

type Metric = MetricObjectWithValues<MetricValueWithName<string>>;

const hrTimeOf = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)];
const STARTED_AT = hrTimeOf(performance.timeOrigin);

/** Sends what `/metrics` shows over OTLP/HTTP, every 15 seconds, with the names and labels that it has there. */
class MetricsExporter extends OTLPExporterBase<ResourceMetrics> {
  constructor(url: string) {
    const options = convertLegacyHttpOptions(
      { url, timeoutMillis: EXPORT_TIMEOUT_MS },
      'METRICS',
      'v1/metrics',
      {
        'content-type': 'application/json',
      },
    );
    const type = 'otlp_http_metric_exporter';
    super(
      createOtlpHttpExportDelegate(
        options,
        JsonMetricsSerializer,
        type,
        MetricsExporterMetricsHelper,
        undefined,
      ),
    );
  }
}

/** Buckets of Prometheus count up to their boundary; those of OTLP count between two. */
const histogramOf = (values: readonly MetricValueWithName<string>[], name: string): Histogram => {
  const valueOf = (part: string): number =>
    values.find(({ metricName }) => metricName === `${name}_${part}`)?.value ?? 0;
  const buckets = values.filter(({ metricName }) => metricName === `${name}_bucket`);
  return {
    buckets: {
      boundaries: buckets.map(({ labels }) => Number(labels['le'])).filter(Number.isFinite),
      counts: buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0)),
    },
    sum: valueOf('sum'),
    count: valueOf('count'),
  };
};

const labelsWithoutBucket = ({ labels }: MetricValueWithName<string>) => omit(labels, ['le']);

const dataOf = ({ name, help, type, values }: Metric, endTime: HrTime): MetricData | null => {
  const base = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const times = { startTime: STARTED_AT, endTime };
  const points = () => values.map(({ value, labels }) => ({ ...times, attributes: labels, value }));
  switch (String(type)) {
    case 'counter':
      return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
    case 'gauge':
      return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: points() };
    case 'histogram': {
      const series = Map.groupBy(values, (value) => JSON.stringify(labelsWithoutBucket(value)));
      const dataPoints = [...series.values()].map((one) => ({
        ...times,
        attributes: one[0] === undefined ? {} : labelsWithoutBucket(one[0]),
        value: histogramOf(one, name),
      }));
      return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints };
    }
    default:
      return null;
  }
};

/** `endpoint`: without `/v1/metrics`. The last export is at shutdown. */
const startMetricsExport = (endpoint: string, resource: Resource, log: Log): AsyncDisposable => {
  meterProcess();
  const producer = {
    collect: async () => {
      const metrics = (await registry.getMetricsAsJSON()) as readonly Metric[];
      const now = hrTimeOf(Date.now());
      const data = metrics.map((metric) => dataOf(metric, now)).filter((one) => one !== null);
      const scopeMetrics = [{ scope: { name: 'ad-intelligence' }, metrics: data }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  };
  const provider = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new MetricsExporter(`${endpoint}/v1/metrics`),
        exportIntervalMillis: METRICS_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        metricProducers: [producer],
      }),
    ],
  });
  return {
    [Symbol.asyncDispose]: () =>
      provider
        .shutdown()
        .catch((error: unknown) => log.warn({ err: error }, 'final export of metrics failed')),
  };
};

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
