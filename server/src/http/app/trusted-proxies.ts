import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';

export type IsTrusted = (address: string | undefined) => boolean;

/** Recognizes the addresses of the proxies that the operator named, each as an address or a network. */
export function trustedProxies(networks: readonly string[]): IsTrusted {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address)!;
    list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return (address = '') => {
    const family = familyOf(address);
    return family !== undefined && list.check(address, family);
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  return ({ 4: 'ipv4', 6: 'ipv6' } as const)[isIP(address)];
}

/**
 * Warns about a proxy that the operator forgot to name. Once in a process: anyone may send the header, so more warnings
 * would only fill the log.
 */
export function warnOfUntrustedProxy(log: Pick<FastifyBaseLogger, 'warn'>, isTrusted: IsTrusted) {
  let isDone = false;
  return ({ headers, socket }: IncomingMessage): void => {
    if (isDone || headers['x-forwarded-for'] === undefined) return;
    const { remoteAddress: peer } = socket;
    if (peer === undefined || isTrusted(peer)) return;
    isDone = true;
    log.warn(
      { peer },
      `ignoring X-Forwarded-For from ${peer}, which is not in SKEIN_TRUSTED_PROXIES: if it is your proxy, add it, ` +
        'or all clients behind it share one limit of failed sign-ins (logged once)',
    );
  };
}
