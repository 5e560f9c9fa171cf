import { DiagLogLevel, diag } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import type { Tracing } from '../usecases/telemetry.ts';
import { type CollectedMetric, exportMetrics } from './metrics.ts';
import { openOtlpTracing, type TracingOptions } from './tracing.ts';

export interface OtlpOptions extends TracingOptions {
  readonly traces: boolean;
  readonly metrics: boolean;
  readonly metricsEveryMs: number;
}

export interface Otlp {
  /** Undefined if only metrics are sent. */
  readonly tracing: Tracing | undefined;
  /** Sends metrics from now on, if they are sent at all. */
  sendMetrics(collect: () => Promise<readonly CollectedMetric[]>): void;
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>;
}

const closeWithinMs = 3000;
/** A receiver that is gone fails every export. */
const reportEveryMs = 60_000;

/** `onFailure` is called about failed exports, at most once a minute. */
export function openOtlp(options: OtlpOptions, version: string, onFailure: (error: unknown) => void): Otlp {
  reportFailures(onFailure);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'skein', 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const tracing = options.traces ? openOtlpTracing(resource, options) : undefined;
  let stopMetrics = async () => {};
  return {
    tracing,
    sendMetrics(collect) {
      if (options.metrics) stopMetrics = exportMetrics(resource, options.metricsEveryMs, collect);
    },
    async close() {
      const closed = Promise.allSettled([tracing?.close(), stopMetrics()]);
      const late = new Promise((resolve) => setTimeout(resolve, closeWithinMs).unref());
      await Promise.race([closed, late]);
    },
  };
}

/** Traces and metrics report failures in different ways, and only to handlers of the whole process. */
function reportFailures(onFailure: (error: unknown) => void): void {
  let reportedMs = Number.NEGATIVE_INFINITY;
  const report = (error: unknown) => {
    if (performance.now() - reportedMs < reportEveryMs) return;
    reportedMs = performance.now();
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
