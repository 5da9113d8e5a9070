import { type HrTime, ValueType } from '@opentelemetry/api';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import { JsonMetricsSerializer, MetricsExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import type { Resource } from '@opentelemetry/resources';
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
import type { Log } from '../logger.ts';
import { meterProcess, registry } from './metrics.ts';

const EXPORT_EVERY_MS = 15_000;
const EXPORT_TIMEOUT_MS = 5_000;

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
export const startMetricsExport = (endpoint: string, resource: Resource, log: Log): AsyncDisposable => {
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
        exportIntervalMillis: EXPORT_EVERY_MS,
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
