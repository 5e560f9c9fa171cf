import type { Config } from '../config/config.ts';
import { invitationLink } from '../domain/sign-in-token.ts';

type Listening = Pick<Config, 'tls'> & { readonly host: string; readonly port: number };

/** How a person on this machine writes where the service listens. */
export function listeningUrl({ host, port, tls }: Listening): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const written = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${written}:${port}`;
}

/** As a command shows it, which runs beside the service and goes by the same settings. */
export function invitationLinkFor(config: Config, token: string): string {
  return invitationLink(config.baseUrl ?? listeningUrl(config), token);
}
