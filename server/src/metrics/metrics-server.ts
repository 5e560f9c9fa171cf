import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { malformed } from '../http/error-response.ts';
import { createListener } from '../http/wire/index.ts';
import type { StoreHealth } from '../usecases/store-health.ts';
import { createMetrics, watchStore } from './metrics.ts';

/** Ample, because a scraper sends its request in one packet. */
const requestTimeoutMs = 10_000;

const plainText = 'text/plain; charset=utf-8';

/** Serves the metrics of this process in the Prometheus format on a separate port, which need not be exposed. */
export function createMetricsServer(config: Config, role: string) {
  const { registry, telemetry } = createMetrics(config, role);
  const server = createListener((request, response) => void answer(registry, request, response), {
    tls: undefined,
    limits: { requestTimeoutMs },
    refuse: (reason) => {
      telemetry.requestRefused();
      return malformed(reason);
    },
  });
  // The server must not keep the process alive after a failed start.
  server.unref();
  return {
    telemetry,
    /** Adds the store's metrics. */
    watch: (store: StoreHealth) => watchStore(registry, store),
    collect: () => registry.getMetricsAsJSON(),
    async listen(host: string, port: number): Promise<AddressInfo> {
      // Rejects if the port is in use.
      await once(server.listen(port, host), 'listening');
      return server.address() as AddressInfo;
    },
    async close(): Promise<void> {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  registry: Registry,
  { method, url }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' || url?.split('?', 1)[0] !== '/metrics') {
    send(response, 404, plainText, 'Not found. This port serves only GET /metrics.\n');
    return;
  }
  try {
    send(response, 200, registry.contentType, await registry.metrics());
  } catch (error) {
    send(response, 500, plainText, `The metrics could not be collected: ${(error as Error).message}\n`);
  }
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  const headers = {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  };
  response.writeHead(status, headers).end(body);
}
