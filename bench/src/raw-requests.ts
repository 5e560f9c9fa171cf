import { connect, type Socket } from 'node:net';

/** Sends the same bytes on several connections, whatever the status of the responses. Ends after `amount` responses. */
export async function sendRaw(
  baseUrl: string,
  request: () => string,
  { connections, amount }: { readonly connections: number; readonly amount: number },
): Promise<void> {
  let left = amount;
  const sendSome = async () => {
    let socket: Socket | undefined;
    while (left > 0) {
      left -= 1;
      socket = await exchange(socket ?? (await open(baseUrl)), request());
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: connections }, sendSome));
}

function open(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.setNoDelay(true).setEncoding('latin1').once('error', reject);
  });
}

/** Resolves with the socket, or with undefined if the service closes it. */
function exchange(socket: Socket, request: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    let received = '';
    const finish = (left: Socket | undefined) => {
      socket.removeAllListeners('data').removeAllListeners('close');
      if (left === undefined) socket.destroy();
      resolve(left);
    };
    socket.on('data', (text: string) => {
      received += text;
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd === -1) return;
      const head = received.slice(0, headEnd + 2);
      const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? 0);
      if (received.length < headEnd + 4 + length) return;
      finish(/\r\nconnection: close\r\n/i.test(head) ? undefined : socket);
    });
    socket.on('close', () => finish(undefined));
    socket.write(request, 'latin1');
  });
}
