import { freePort } from '../service/machine.ts';
import { Service } from '../service/service.ts';

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
