import { connect } from 'node:net';
import type { Answer } from './conformance.ts';

/** Sends bytes that no HTTP client would, and reads the answer until the service closes the connection. */
export async function sendRaw(baseUrl: string, request: string): Promise<Answer> {
  const { hostname, port } = new URL(baseUrl);
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.setTimeout(10_000, () => socket.destroy(new Error('The service did not close the connection.')));
  });
  return parseAnswer(Buffer.concat(chunks).toString());
}

function parseAnswer(text: string): Answer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...fields] = text.slice(0, end).split('\r\n');
  const headers = new Headers(
    fields.map((field): [string, string] => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon), field.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: body === '' ? undefined : JSON.parse(body),
  };
}
