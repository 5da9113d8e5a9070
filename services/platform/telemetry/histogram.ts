import type { Metric, MetricObjectWithValues, MetricValueWithName, Registry } from 'prom-client';

export type Observe = (value: number) => void;

type Series = {
  readonly labels: Readonly<Record<string, string | number>>;
  /** Counts per bucket, not cumulative; the last counts values above the last bound. */
  readonly counts: Float64Array;
  sum: number;
};

export type Timings = {
  /** Callers store the series, so that labels are resolved once. */
  of(labels: Series['labels']): Observe;
};

/**
 * For paths that run ten thousand times a second: `prom-client` computes a key of the labels per value, here a value
 * only changes two numbers.
 */
export const createHistogram = (
  registry: Registry,
  {
    name,
    help,
    bounds,
  }: { readonly name: string; readonly help: string; readonly bounds: readonly number[] },
): Timings => {
  const seriesByLabels = new Map<string, Series>();

  const valuesOf = ({ labels, counts, sum }: Series): MetricValueWithName<string>[] => {
    let total = 0;
    const buckets = [...bounds, '+Inf'].map((le, index) => {
      total += counts[index] ?? 0;
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  };
  const get = async (): Promise<MetricObjectWithValues<MetricValueWithName<string>>> =>
    ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...seriesByLabels.values()].flatMap(valuesOf),
    }) as never;
  // The registry uses only these members of a metric, so the class of the library is not needed.
  registry.registerMetric({ name, help, get, reset: () => seriesByLabels.clear() } as unknown as Metric);

  return {
    of: (labels) => {
      const key = JSON.stringify(labels);
      const series = seriesByLabels.get(key) ?? {
        labels,
        counts: new Float64Array(bounds.length + 1),
        sum: 0,
      };
      seriesByLabels.set(key, series);
      return (value) => {
        let bucket = 0;
        while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
        series.counts[bucket] = (series.counts[bucket] as number) + 1;
        series.sum += value;
      };
    },
  };
};
