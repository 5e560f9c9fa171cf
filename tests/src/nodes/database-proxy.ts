import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A port between nodes and PostgreSQL: it can be pointed at another server, and it can fall silent. */
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
    // A test that fails halfway does not wait for it.
    proxy.#server.unref();
    return proxy;
  }

  /** The same database, through here. */
  urlOf(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** New connections lead there; those that exist are closed. */
  switchTo(targetPort: number): void {
    this.#targetPort = targetPort;
    this.#closeAll();
  }

  /** Silently drops all traffic from now on, on existing and new connections. */
  fallSilent(): void {
    this.#silent = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  /** New connections pass again; the silent ones are closed. */
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
