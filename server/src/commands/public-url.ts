import type { Config } from '../config.ts';

type Listening = Pick<Config, 'tls'> & { readonly host: string; readonly port: number };

/** How a person on this machine writes where the service listens. */
export function listeningUrl({ host, port, tls }: Listening): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const written = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${written}:${port}`;
}

/** What an invited person opens. The token is in the fragment, which browsers keep to themselves. */
export function invitationLink(baseUrl: string, token: string): string {
  return `${baseUrl}/invitation#${token}`;
}

/** The same for a command, which runs beside the service and goes by the same settings. */
export function invitationLinkFor(config: Config, token: string): string {
  return invitationLink(config.baseUrl ?? listeningUrl(config), token);
}
