import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { SpanAttributes, Tracing } from '../domain/telemetry.ts';

/** How many requests are remembered, so that a reply joins the trace that its caller started. */
const requestsMax = 10_000;

export interface TracingOptions {
  /** As in the standard variables `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`. */
  readonly sampler: string;
  readonly samplerArgument: string;
  readonly spanDelayMs: number;
}

/** Sends spans over OTLP. The exporter reads its URL and headers from the standard `OTEL_EXPORTER_OTLP_*` variables. */
export function openOtlpTracing(
  resource: Resource,
  options: TracingOptions,
): Tracing & { close(): Promise<void> } {
  const ids = new TraceIds();
  const exporter = new OTLPTraceExporter();
  const processor = new BatchSpanProcessor({ exporter, scheduledDelayMillis: options.spanDelayMs });
  const provider = new TracerProvider({
    resource,
    idGenerator: ids,
    sampler: createSampler(options),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('skein');
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator = new W3CTraceContextPropagator();
  const requests = new Map<string, SpanContext>();

  function within<T>(span: Span, parent: Context, work: () => T): T {
    const end = (error?: unknown) => {
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
    try {
      const result = contexts.with(trace.setSpan(parent, span), work);
      if (result instanceof Promise) result.then(() => end(), end);
      else end();
      return result;
    } catch (error) {
      end(error);
      throw error;
    }
  }

  return {
    request(traceId, method, headers, fromTrustedProxy) {
      const named = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      const linked = fromTrustedProxy ? undefined : trace.getSpanContext(named);
      const parent = fromTrustedProxy ? named : ROOT_CONTEXT;
      const options = {
        kind: SpanKind.SERVER,
        attributes: { 'http.request.method': method, 'skein.trace_id': traceId },
        ...(linked && { links: [{ context: linked }] }),
      };
      const span = ids.using(traceId, () => tracer.startSpan(method, options, parent));
      requests.set(traceId, span.spanContext());
      if (requests.size > requestsMax) requests.delete(requests.keys().next().value!);
      const context = trace.setSpan(parent, span);
      return {
        run: (work) => contexts.with(context, work),
        end(route, status, attributes) {
          span.updateName(`${method} ${route}`);
          span.setAttributes({ 'http.route': route, 'http.response.status_code': status, ...attributes });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },

    span(name, attributes, work) {
      const parent = contexts.active();
      if (trace.getSpan(parent) === undefined) return work();
      return within(tracer.startSpan(name, { attributes }, parent), parent, work);
    },

    afterRequest(traceId, name, attributes, work) {
      const requestSpan = requests.get(traceId);
      const parent = requestSpan ? trace.setSpanContext(ROOT_CONTEXT, requestSpan) : ROOT_CONTEXT;
      const options = { attributes: { ...attributes, 'skein.trace_id': traceId } satisfies SpanAttributes };
      const span = ids.using(traceId, () => tracer.startSpan(name, options, parent));
      return within(span, parent, work);
    },

    headers() {
      const headers: Record<string, string> = {};
      propagator.inject(contexts.active(), headers, defaultTextMapSetter);
      return headers;
    },

    close: () => provider.shutdown(),
  };
}

/**
 * A trace that starts here has the trace ID of its request, without the hyphens. A reply that another process writes is
 * therefore part of the same trace, and a trace can be found by the id that a caller quotes.
 */
class TraceIds extends RandomIdGenerator {
  #chosen: string | undefined;

  override generateTraceId(): string {
    return this.#chosen ?? super.generateTraceId();
  }

  using<T>(traceId: string, start: () => T): T {
    const plain = traceId.replaceAll('-', '');
    this.#chosen = /^(?!0+$)[0-9a-f]{32}$/.test(plain) ? plain : undefined;
    try {
      return start();
    } finally {
      this.#chosen = undefined;
    }
  }
}

function createSampler({ sampler: name, samplerArgument }: TracingOptions): Sampler {
  const ratio = Number(samplerArgument);
  const root = name.replace(/^parentbased_/, '');
  const samplers: Record<string, Sampler> = {
    always_off: new AlwaysOffSampler(),
    traceidratio: new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1),
  };
  const sampler = samplers[root] ?? new AlwaysOnSampler();
  return root === name ? sampler : new ParentBasedSampler({ root: sampler });
}
