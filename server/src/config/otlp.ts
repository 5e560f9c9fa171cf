/** What to send over OTLP, from the variables that OpenTelemetry defines. The exporters read their addresses themselves. */
export interface OtlpChoice {
  readonly traces: boolean;
  readonly metrics: boolean;
  readonly sampler: string;
  readonly samplerArgument: string;
  readonly spanDelayMs: number;
  readonly metricsEveryMs: number;
  /** A configured protocol that is not supported. */
  readonly unsupportedProtocol: string | undefined;
}

const protocol = 'http/json';

/** Undefined if no receiver is configured, or if OpenTelemetry is turned off. */
export function readOtlp(environment: NodeJS.ProcessEnv): OtlpChoice | undefined {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined;
  const isSent = (signal: 'TRACES' | 'METRICS') =>
    Boolean(
      environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`],
    ) && environment[`OTEL_${signal}_EXPORTER`] !== 'none';
  const [traces, metrics] = [isSent('TRACES'), isSent('METRICS')];
  if (!traces && !metrics) return undefined;
  const asked = environment.OTEL_EXPORTER_OTLP_PROTOCOL || protocol;
  return {
    traces,
    metrics,
    sampler: environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on',
    samplerArgument: environment.OTEL_TRACES_SAMPLER_ARG || '1',
    spanDelayMs: msOf(environment.OTEL_BSP_SCHEDULE_DELAY, 5000),
    metricsEveryMs: msOf(environment.OTEL_METRIC_EXPORT_INTERVAL, 60_000),
    unsupportedProtocol: asked === protocol ? undefined : asked,
  };
}

/** Invalid values are ignored, as OpenTelemetry requires. */
function msOf(text: string | undefined, usual: number): number {
  const ms = Number(text);
  return ms >= 1 && ms < 2 ** 31 ? ms : usual;
}
