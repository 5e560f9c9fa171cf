/** Whether a host can only be reached from this machine. Accepts a name, an address, or the host part of a URL. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
