import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';

/**
 * What happens to a request: the connection is dropped at once; the service handles it but the answer is lost; the
 * answer breaks off in the middle of the body; no answer ever comes; a canned answer. `pass` lets it through.
 */
export type Fault = 'drop' | 'lose the answer' | 'cut' | 'hang' | 'pass' | Canned;

interface Canned {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** A received request, with its path at the service. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Address {
  readonly faults: Fault[];
  readonly seen: Seen[];
  readonly knowsPrefer: boolean;
  /** The number of hanging requests, for which the client still waits. */
  hanging: number;
}

/** A proxy in front of a service that injects faults, with different faults for each address. */
export class FaultyProxy {
  readonly origin: string;
  readonly #server: Server;
  readonly #upstream: string;
  readonly #addresses = new Map<string, Address>();
  readonly #files = new Map<string, () => string | Buffer>();

  private constructor(server: Server, upstream: string) {
    this.#server = server;
    this.#upstream = upstream;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (incoming, outgoing) => {
      this.#answer(incoming, outgoing).catch(() => incoming.destroy());
    });
  }

  static async start(upstream: string): Promise<FaultyProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new FaultyProxy(server, upstream);
  }

  /** Creates an address of the service whose first requests meet these faults, in order. Later requests pass. */
  address(faults: readonly Fault[] = [], { knowsPrefer = true } = {}): string {
    const name = `/${this.#addresses.size}`;
    this.#addresses.set(name, { faults: [...faults], seen: [], knowsPrefer, hanging: 0 });
    return `${this.origin}${name}`;
  }

  requestsTo(address: string): Seen[] {
    return this.#find(address).seen;
  }

  hangingAt(address: string): number {
    return this.#find(address).hanging;
  }

  /** Serves a file on the same origin. It is read at each request. */
  serve(path: string, content: string | { readonly file: string }): void {
    this.#files.set(path, () => (typeof content === 'string' ? content : readFileSync(content.file)));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #find(address: string): Address {
    const found = this.#addresses.get(new URL(address).pathname);
    if (found === undefined) throw new Error(`${address} is no address of this proxy`);
    return found;
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const [, name = '', path = '/'] = /^(\/\d+)(\/.*)$/.exec(incoming.url ?? '') ?? [];
    const address = this.#addresses.get(name);
    if (address === undefined) return this.#sendFile(incoming, outgoing);
    const body = await readText(incoming);
    const { method = '', headers } = incoming;
    address.seen.push({ method, path, headers, body });
    const fault = address.faults.shift() ?? 'pass';
    if (fault === 'drop') {
      incoming.socket.destroy();
    } else if (fault === 'hang') {
      address.hanging += 1;
      outgoing.once('close', () => {
        address.hanging -= 1;
      });
    } else if (typeof fault === 'object') {
      outgoing.writeHead(fault.status, fault.headers ?? {}).end(fault.body ?? '');
    } else {
      this.#forward({ method, path, headers, body }, fault, address, incoming, outgoing);
    }
  }

  #forward(
    { method, path, headers, body }: Seen,
    fault: 'pass' | 'lose the answer' | 'cut',
    { knowsPrefer }: Address,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): void {
    const { prefer, connection: _, ...kept } = headers;
    const passed = { ...kept, host: new URL(this.#upstream).host, ...(knowsPrefer && prefer && { prefer }) };
    const upstream = request(`${this.#upstream}${path}`, { method, headers: passed, agent: false });
    upstream.on('error', () => incoming.socket.destroy());
    outgoing.once('close', () => upstream.destroy());
    upstream.once('response', async (answer) => {
      const text = await readText(answer);
      if (fault === 'lose the answer') {
        incoming.socket.destroy();
      } else if (fault === 'cut') {
        outgoing.writeHead(answer.statusCode ?? 0, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        });
        outgoing.write(text.slice(0, text.length / 2), () => incoming.socket.destroy());
      } else {
        const { 'transfer-encoding': __, connection: ___, ...answered } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 0, answered).end(text);
      }
    });
    upstream.end(body);
  }

  #sendFile(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const path = incoming.url ?? '';
    const file = this.#files.get(path);
    const type = extname(path) === '.js' ? 'text/javascript' : 'text/html; charset=utf-8';
    outgoing.writeHead(file ? 200 : 404, { 'content-type': type }).end(file?.() ?? 'No such page.');
  }
}

async function readText(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
