/**
 * What attempts are counted by. Whoever has one IPv6 address mostly has the 2^64 beside it, too: they are one place. An
 * IPv4 address is one however it is written.
 */
export function placeOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%')[0]!.toLowerCase().split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...new Array<string>(Math.max(0, zeros)).fill('0'), ...last];
  return groups.slice(0, 4).join(':');
}
