import { isIP } from 'node:net';

/** Whether it is an address, or a network as in `10.1.0.0/16`. One of everyone is none: nobody could be told apart by it. */
export function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] as number;
  return bits > 0 && (prefix === undefined || (Number(prefix) > 0 && Number(prefix) <= bits));
}
