import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A reverse proxy that strips its path prefix and forwards everything else. */
export interface FrontProxy {
  readonly port: number;
  /** Where requests go from now on. */
  leadTo(port: number): void;
  close(): Promise<void>;
}

export async function startFrontProxy(paths: readonly string[]): Promise<FrontProxy> {
  let target = 0;
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming;
    const path = paths.find((beginning) => url.startsWith(`${beginning}/`)) ?? '';
    const rest = url.slice(path.length);
    const passedOn = request({ host: '127.0.0.1', port: target, method, headers, path: rest }, (answer) => {
      outgoing.writeHead(answer.statusCode as number, answer.headers);
      answer.pipe(outgoing);
    });
    passedOn.on('error', (error) => outgoing.destroy(error));
    incoming.pipe(passedOn);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port) => {
      target = port;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
