export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** The span of a request, from its arrival until its response is ready. */
export interface RequestSpan {
  /** Runs `work`, and what it starts, inside the span. */
  run<T>(work: () => T): T;
  end(route: string, status: number, attributes: SpanAttributes): void;
}

/** Records what a request causes as spans of one trace. Attributes never contain prompts, documents or credentials. */
export interface Tracing {
  /** Absent where nothing is traced. */
  readonly request?: (
    traceId: string,
    method: string,
    headers: NodeJS.Dict<string | string[]>,
  ) => RequestSpan;
  /** Runs `work` as a span of the current trace. Outside a trace it only runs it. */
  span<T>(name: string, attributes: SpanAttributes, work: () => T): T;
  /** Runs `work` as a span of the trace of an earlier request, which another process may have served. */
  afterRequest<T>(traceId: string, name: string, attributes: SpanAttributes, work: () => T): T;
  /** The headers that continue the current trace at another service. */
  headers(): Record<string, string>;
}

export const noTracing: Tracing = {
  span: (_name, _attributes, work) => work(),
  afterRequest: (_traceId, _name, _attributes, work) => work(),
  headers: () => ({}),
};
