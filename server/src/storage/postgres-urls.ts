const example = 'postgres://USER:PASSWORD@HOST1:5432,HOST2:5432/DATABASE?target_session_attrs=read-write';

/**
 * The URL of each host of a PostgreSQL URL, in order. As in libpq, several hosts are separated by commas, each with its
 * own port. `fault` says what is wrong with a URL and never repeats the URL, which may hold a password.
 */
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
      fault: 'must have target_session_attrs=read-write: the service needs a server that takes writes',
    };
  }
  return { urls: urls.map(withoutOurs) };
}

/** The driver does not know target_session_attrs. application_name must be ours: `skein copy` looks for it. */
function withoutOurs(url: string): string {
  const plain = new URL(url);
  plain.searchParams.delete('target_session_attrs');
  plain.searchParams.delete('application_name');
  return plain.href;
}
