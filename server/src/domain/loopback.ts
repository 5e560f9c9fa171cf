/** Whether only programs on this machine reach the host: a name, an address, or the host part of an address with a scheme. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
