import autocannon from 'autocannon';
import type { LoadOrder, LoadReport, Request } from './load.ts';

/** The load generator. It runs in a separate process so that, on two cores, one serves and one sends requests. */
process.on('message', async (order: LoadOrder) => process.send?.(await run(order)));
process.on('disconnect', () => process.exit());

const failuresShownMax = 5;

/** Splits the connections among the nodes, which are loaded at the same time. */
async function run(order: LoadOrder): Promise<LoadReport> {
  const connections = Math.ceil(order.connections / order.urls.length);
  let firstClient = 0;
  const seen = await Promise.all(
    order.urls.map((url) => {
      const part = runOn(url, { ...order, connections }, firstClient, order.connections);
      firstClient += connections;
      return part;
    }),
  );
  const latenciesMs = seen.flatMap((part) => part.latenciesMs).sort((a, b) => a - b);
  return {
    requests: latenciesMs.length,
    seconds: Math.max(...seen.map(({ seconds }) => seconds)),
    failures: [...new Set(seen.flatMap(({ failures }) => failures))].slice(0, failuresShownMax),
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  };
}

interface Seen {
  readonly latenciesMs: number[];
  readonly seconds: number;
  readonly failures: string[];
}

function runOn(
  url: string,
  { requests, connections, seconds, amount }: LoadOrder,
  firstClient: number,
  clients: number,
): Promise<Seen> {
  const latenciesMs: number[] = [];
  const failures = new Set<string>();
  let client = firstClient;
  const share = Math.ceil(requests.length / clients);
  return new Promise((resolve, reject) => {
    const began = performance.now();
    let last = began;
    const instance = autocannon(
      {
        url,
        connections,
        ...(amount === undefined ? { duration: seconds } : { amount }),
        // How often autocannon checks whether the time is up.
        sampleInt: 50,
        requests: [requests[0]!],
        // Each connection has its own share of the requests, so that no two send the same one at the same moment.
        setupClient(connection) {
          const first = (client * share) % requests.length;
          client += 1;
          connection.setRequests(requests.slice(first, first + share).map(prepared));
        },
      },
      (error, result) => {
        if (error) return reject(error);
        if (result.errors > 0) failures.add(`${result.errors} connections failed`);
        resolve({ latenciesMs, seconds: (last - began) / 1000, failures: [...failures] });
      },
    );
    instance.on('response', (_connection, status, _bytes, ms) => {
      last = performance.now();
      latenciesMs.push(ms);
      if (status >= 400) failures.add(`status ${status}`);
    });
  });
}

let sent = 0;

/** Gives each read a header of its own, as a proxy does, so that no two reads have the same bytes. */
function prepared(request: Request) {
  if (request.method !== 'GET') return request;
  const headers = () => ({ ...request.headers, 'x-request-id': String(++sent) });
  return { ...request, setupRequest: (next: object) => ({ ...next, headers: headers() }) };
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
