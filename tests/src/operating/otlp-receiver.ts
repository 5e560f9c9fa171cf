import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: readonly Attribute[];
}

/** Receives OTLP over HTTP, as a collector does. */
export interface OtlpReceiver {
  readonly url: string;
  /** Everything that was received, as text. */
  all(): string;
  spans(): ReceivedSpan[];
  /** The metrics of each export. */
  metrics(): any[][];
  serviceNames(): string[];
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const received: { path: string; body: any }[] = [];
  const server = createServer(async (request, response) => {
    received.push({ path: request.url ?? '', body: JSON.parse(await text(request)) });
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = (path: string) => received.filter((one) => one.path === path).map(({ body }) => body);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    all: () => JSON.stringify(received),
    spans: () =>
      at('/v1/traces').flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }: any) => scopeSpans.flatMap(({ spans }: any) => spans)),
      ),
    metrics: () =>
      at('/v1/metrics').map(({ resourceMetrics }) =>
        resourceMetrics.flatMap(({ scopeMetrics }: any) =>
          scopeMetrics.flatMap(({ metrics }: any) => metrics),
        ),
      ),
    serviceNames: () =>
      received.flatMap(({ body }) =>
        [...(body.resourceSpans ?? []), ...(body.resourceMetrics ?? [])].map(
          ({ resource }) =>
            resource.attributes.find(({ key }: Attribute) => key === 'service.name').value.stringValue,
        ),
      ),
    async close() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
