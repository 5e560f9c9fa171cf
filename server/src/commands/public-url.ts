import type { Config } from '../config/config.ts';
import { invitationLink } from '../domain/sign-in-token.ts';

type Listening = Pick<Config, 'tls'> & { readonly host: string; readonly port: number };

/** The URL of the listening address, for a person on this machine. */
export function listeningUrl({ host, port, tls }: Listening): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const written = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${written}:${port}`;
}

/** For commands, which have the same settings as the service. */
export function invitationLinkFor(config: Config, token: string): string {
  return invitationLink(config.baseUrl ?? listeningUrl(config), token);
}
