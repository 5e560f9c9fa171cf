/**
 * The key by which attempts are counted. A client usually controls the whole /64 of its IPv6 address, so that is one key.
 * The port that some proxies append is dropped, because it changes with every connection.
 */
export function toNetwork(address: string): string {
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  if (!address.includes(':')) return address;
  const ipv6 = /^\[([^\]]*)\]/.exec(address)?.[1] ?? address;
  const [head = '', tail] = ipv6.split('%')[0]!.toLowerCase().split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...new Array<string>(Math.max(0, zeros)).fill('0'), ...last];
  return groups.slice(0, 4).join(':');
}

/** Whether a host can only be reached from this machine. Accepts a name, an address, or the host part of a URL. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
