import { isLoopback } from '../../domain/loopback.ts';
import { postgresUrls } from '../postgres-urls.ts';

/**
 * The driver treats all of these as `verify-full`: it never falls back to an unencrypted connection, and always checks
 * the certificate and the name in it. It warns that its next release will be weaker: written out, they stay as they are.
 */
const verified = ['prefer', 'require', 'verify-ca', 'verify-full'];

/** The address with its `sslmode` written as what it means to the driver. */
export function withPlainTlsMode(url: URL): URL {
  const written = new URL(url);
  if (verified.includes(url.searchParams.get('sslmode') ?? '') && !isLibpqCompatible(url)) {
    written.searchParams.set('sslmode', 'verify-full');
  }
  return written;
}

/** What others on the network could do to a connection by this address; undefined where they can do nothing. */
export function tlsRisk(address: string): string | undefined {
  const read = postgresUrls(address);
  const risks = 'fault' in read ? [] : read.urls.map((url) => riskOf(new URL(url)));
  return risks.find((risk) => risk !== undefined);
}

function riskOf(url: URL): string | undefined {
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
  // Without a host, and with a folder, it is a socket of this machine.
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
