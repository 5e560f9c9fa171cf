import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between nodes and PostgreSQL. It can switch to another server, and it can drop all traffic. */
export class DatabaseProxy {
  readonly #server = createServer((client) => this.#accept(client));
  readonly #sockets = new Set<Socket>();
  #targetPort: number;
  #silent = false;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
  }

  static async start(targetPort: number): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    // The proxy must not keep a failed test running.
    proxy.#server.unref();
    return proxy;
  }

  /** The URL of the same database through the proxy. */
  rewriteUrl(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** Directs new connections to another port and closes existing ones. */
  switchTo(targetPort: number): void {
    this.#targetPort = targetPort;
    this.#closeAll();
  }

  /** Silently drops all traffic from now on, on existing and new connections. */
  fallSilent(): void {
    this.#silent = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  /** Forwards new connections again and closes the silent ones. */
  speakAgain(): void {
    this.#silent = false;
    this.#closeAll();
  }

  stop(): void {
    this.#server.close();
    this.#closeAll();
  }

  #accept(client: Socket): void {
    this.#keep(client);
    if (this.#silent) return;
    const target = connect(this.#targetPort, '127.0.0.1');
    this.#keep(target);
    client.pipe(target).pipe(client);
    client.once('close', () => target.destroy());
    target.once('close', () => client.destroy());
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #closeAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
