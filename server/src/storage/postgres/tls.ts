import { isLoopback } from '../../domain/address.ts';
import { postgresUrls } from '../postgres-urls.ts';

/**
 * The driver treats all of these as `verify-full`: it never falls back to an unencrypted connection, and always checks
 * the certificate and the host name. It warns that a later release will be weaker, so we write `verify-full` explicitly.
 */
const verified = ['prefer', 'require', 'verify-ca', 'verify-full'];

/** The address with its `sslmode` replaced by the mode that the driver uses for it. */
export function withExplicitTlsMode(url: URL): URL {
  const explicit = new URL(url);
  if (verified.includes(url.searchParams.get('sslmode') ?? '') && !isLibpqCompatible(url)) {
    explicit.searchParams.set('sslmode', 'verify-full');
  }
  return explicit;
}

/** Why a connection to this address is not safe from others on the network; undefined if it is safe. */
export function tlsRisk(address: string): string | undefined {
  const read = postgresUrls(address);
  const risks = 'fault' in read ? [] : read.urls.map((url) => riskOf(new URL(url)));
  return risks.find((risk) => risk !== undefined);
}

function riskOf(url: URL): string | undefined {
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
  // No host, or a folder: a socket of this machine.
  if (host === '' || host.startsWith('/') || isLoopback(host)) return undefined;
  const mode = url.searchParams.get('sslmode') ?? url.searchParams.get('ssl') ?? process.env.PGSSLMODE ?? '';
  if (mode === 'no-verify' || (isLibpqCompatible(url) && ['prefer', 'require'].includes(mode))) {
    return 'is encrypted, but the certificate of the server is not checked';
  }
  return [...verified, 'true', '1'].includes(mode) || url.searchParams.has('sslrootcert')
    ? undefined
    : 'is not encrypted';
}

function isLibpqCompatible(url: URL): boolean {
  return url.searchParams.get('uselibpqcompat') === 'true';
}
