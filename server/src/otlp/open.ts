import { type Attributes, DiagLogLevel, diag, ValueType } from '@opentelemetry/api';
import { callWithTimeout, millisToHrTime, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { openOtlpTracing, type TracingOptions } from './tracing.ts';

interface OtlpOptions extends TracingOptions {
  readonly traces: boolean;
  readonly metrics: boolean;
  readonly metricsEveryMs: number;
}

const closeWithinMs = 3000;
/** A receiver that is gone fails every export. */
const reportEveryMs = 60_000;

/** `onFailure` is called about failed exports, at most once a minute. */
export function openOtlp(options: OtlpOptions, version: string, onFailure: (error: unknown) => void) {
  reportFailures(onFailure);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'skein', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const tracing = options.traces ? openOtlpTracing(resource, options) : undefined;
  let stopMetrics = async () => {};
  return {
    /** Undefined if only metrics are sent. */
    tracing,
    /** Sends metrics from now on, if they are sent at all. */
    sendMetrics(collect: Collect): void {
      if (options.metrics) stopMetrics = exportMetrics(resource, options.metricsEveryMs, collect);
    },
    /** Sends what is left, taking a few seconds at most. */
    async close(): Promise<void> {
      const closed = Promise.allSettled([tracing?.close(), stopMetrics()]);
      await callWithTimeout(closed, closeWithinMs).catch(() => {});
    },
  };
}

/** Traces and metrics report failures in different ways, and only to handlers of the whole process. */
function reportFailures(onFailure: (error: unknown) => void): void {
  let reportedMs = Number.NEGATIVE_INFINITY;
  const report = (error: unknown) => {
    if (performance.now() - reportedMs < reportEveryMs) return;
    reportedMs = performance.now();
    // The receiver's whole answer, of up to 4 MB. Log lines of more than 1 MB are dropped.
    Reflect.deleteProperty(Object(error), 'data');
    onFailure(error);
  };
  setGlobalErrorHandler(report);
  const ignore = () => {};
  const error = (message: string, ...details: unknown[]) =>
    report(details.find((detail) => detail instanceof Error) ?? new Error(message));
  diag.setLogger(
    { error, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
}

/** A metric as prom-client returns it. */
interface CollectedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string | number;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Partial<Record<string, string | number>>>;
    /** For histograms: the name with `_bucket`, `_sum` or `_count`. */
    readonly metricName?: string;
  }[];
}

type Collect = () => Promise<readonly CollectedMetric[]>;

/** Sends the metrics of the Prometheus port over OTLP as well. Returns a function that sends them a last time and stops. */
function exportMetrics(resource: Resource, exportIntervalMillis: number, collect: Collect) {
  const startTime = millisToHrTime(Date.now());
  const producer = {
    async collect(): Promise<CollectionResult> {
      const times = { startTime, endTime: millisToHrTime(Date.now()) };
      const metrics = (await collect()).map((metric) => metricData(metric, times));
      const scopeMetrics = [{ scope: { name: 'skein' }, metrics }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  };
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(30_000, exportIntervalMillis),
    metricProducers: [producer],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return () => provider.shutdown();
}

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>;

function metricData(metric: CollectedMetric, times: Times): MetricData {
  const shared = {
    descriptor: { name: metric.name, description: metric.help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (metric.type === 'histogram')
    return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints(metric, times) };
  const dataPoints = metric.values.map(({ value, labels }) => {
    return { ...times, attributes: labels as Attributes, value };
  });
  return metric.type === 'counter'
    ? { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...shared, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** A Prometheus bucket includes all lower buckets; an OTLP bucket does not. */
function histogramPoints({ name, values }: CollectedMetric, times: Times): DataPoint<Histogram>[] {
  const series = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return Array.from(series, ([labels, parts]) => {
    const buckets = parts.filter(({ metricName }) => metricName === `${name}_bucket`);
    const counts = buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0));
    const boundaries = buckets.map(({ labels: { le } }) => Number(le)).filter(Number.isFinite);
    const part = (suffix: string) =>
      parts.find(({ metricName }) => metricName === `${name}${suffix}`)?.value ?? 0;
    const value = { buckets: { boundaries, counts }, sum: part('_sum'), count: part('_count') };
    return { ...times, attributes: JSON.parse(labels), value };
  });
}
