import { resolve } from 'node:path';
import { isLoopback } from '../../domain/address.ts';

const example = 'postgres://USER:PASSWORD@HOST1:5432,HOST2:5432/DATABASE?target_session_attrs=read-write';

/** The URL of each host. As in libpq, commas separate several. `fault` never repeats the URL, which may hold a password. */
export function postgresUrls(text: string): { urls: readonly string[] } | { fault: string } {
  const [, scheme, authority = '', rest = ''] = /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/s.exec(text) ?? [];
  const hostsFrom = authority.lastIndexOf('@') + 1;
  const hosts = authority.slice(hostsFrom).split(',');
  const urls = hosts.map((host) => `${scheme}${authority.slice(0, hostsFrom)}${host}${rest}`);
  const hasEmpty = hosts.length > 1 && hosts.includes('');
  if (scheme === undefined || hasEmpty || !urls.every((url) => URL.canParse(url))) {
    return { fault: `names hosts that cannot be read: write ${example}` };
  }
  const wanted = new URL(urls[0]!).searchParams.get('target_session_attrs');
  if (wanted !== null && wanted !== 'read-write' && wanted !== 'primary') {
    return {
      fault: 'must have target_session_attrs=read-write: the service needs a server that accepts writes',
    };
  }
  return { urls: urls.map(forDriver) };
}

/**
 * The driver does not know target_session_attrs. application_name must be ours: `skein copy` looks for it. The driver reads
 * files for every connection, and the service leaves the folder in which it was started.
 */
function forDriver(url: string): string {
  const plain = new URL(url);
  plain.searchParams.delete('target_session_attrs');
  plain.searchParams.delete('application_name');
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = plain.searchParams.get(name);
    if (file) plain.searchParams.set(name, resolve(file));
  }
  return plain.href;
}

/** The driver treats all of these as `verify-full`, but warns that a later release will not: we write it explicitly. */
const verified = ['prefer', 'require', 'verify-ca', 'verify-full'];

/** The URL with its `sslmode` replaced by the mode that the driver uses for it. */
export function withExplicitTlsMode(url: URL): URL {
  const explicit = new URL(url);
  if (verified.includes(url.searchParams.get('sslmode') ?? '') && !isLibpqCompatible(url)) {
    explicit.searchParams.set('sslmode', 'verify-full');
  }
  return explicit;
}

/** Why a connection to this URL is not safe from others on the network; undefined if it is safe. */
export function tlsRisk(url: string): string | undefined {
  const read = postgresUrls(url);
  const risks = 'fault' in read ? [] : read.urls.map((url) => findRisk(new URL(url)));
  return risks.find((risk) => risk !== undefined);
}

function findRisk(url: URL): string | undefined {
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
