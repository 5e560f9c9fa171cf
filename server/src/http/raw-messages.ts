import type { Socket } from 'node:net';

/** A response without Node's help: the status line and headers as Latin-1, and the body. */
export interface RawResponse {
  readonly head: string;
  readonly body: Buffer | undefined;
}

/** A longer request is never recognized by its bytes. */
const headBytesMax = 1024;
const emptyLine = 0x0d0a0d0a;
const letterG = 0x47;
/** Up to this size, copying a body is faster than writing headers and body as two parts. */
const joinedBytesMax = 4096;

/** Whether the data ends with an empty line, as a request without a body does. */
export function endsWithHead(data: Buffer): boolean {
  return data.length >= 4 && data.readUInt32BE(data.length - 4) === emptyLine;
}

/** The text of data that looks like a GET request, or like several. */
export function readHead(data: Buffer): string | undefined {
  const mayBeGet = data.length <= headBytesMax && data[0] === letterG;
  return mayBeGet && endsWithHead(data) ? data.toString('latin1') : undefined;
}

/** Whether it is one request, to every parser: lines that end with CR LF, of which the last is empty. */
export function isOneRequest(head: string): boolean {
  return /^(?:[^\r\n]+\r\n)+\r\n$/.test(head);
}

/** A small body as text, to be written with its headers. Latin-1 maps each byte to a character and back unchanged. */
export function smallBody(body: Buffer): string | undefined {
  return body.length <= joinedBytesMax ? body.toString('latin1') : undefined;
}

export function writeResponse(socket: Socket, { head, body }: RawResponse): void {
  const text = body === undefined ? '' : smallBody(body);
  if (text !== undefined) return void socket.write(head + text, 'latin1');
  socket.cork();
  socket.write(head, 'latin1');
  socket.write(body!);
  socket.uncork();
}

const readBuffer = Buffer.allocUnsafeSlow(65_536);

/**
 * Node allocates 64 KiB for each read of an accepted socket and passes the data through a stream: together a tenth of the
 * time of a small request. It does neither for sockets that are opened with the option `onread`, so this sets the properties
 * that the option sets. The data is valid until `receive` returns. A socket without these properties is read as usual.
 */
export function readIntoOneBuffer(socket: Socket, receive: (data: Buffer) => boolean): void {
  const { _handle: handle } = socket as Socket & { _handle?: { useUserBuffer?(buffer: Buffer): void } };
  const symbols = Object.getOwnPropertySymbols(socket);
  const buffer = symbols.find(({ description }) => description === 'kBuffer');
  const callback = symbols.find(({ description }) => description === 'kBufferCb');
  if (handle?.useUserBuffer === undefined || buffer === undefined || callback === undefined) return;
  handle.useUserBuffer(readBuffer);
  const received = (length: number) => receive(readBuffer.subarray(0, length));
  Object.assign(socket, { [buffer]: readBuffer, [callback]: received });
}

/** A copy of data that the next read would overwrite. */
export function kept(data: Buffer): Buffer {
  return data.buffer === readBuffer.buffer ? Buffer.from(data) : data;
}
