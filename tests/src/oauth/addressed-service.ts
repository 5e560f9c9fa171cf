import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Service } from '../service.ts';

/** Starts a service on a known port, so that its settings can contain its own address. */
export async function startAddressed(
  settings: (port: number) => Record<string, string>,
  folder?: string,
): Promise<Service & { readonly port: number }> {
  const port = await freePort();
  const environment = { SKEIN_MODEL: 'scripted', SKEIN_PORT: String(port), ...settings(port) };
  const service = await Service.start({ environment, ...(folder !== undefined && { folder }) });
  return Object.assign(service, { port });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
