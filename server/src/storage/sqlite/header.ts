import { readSync } from 'node:fs';

/** See https://www.sqlite.org/fileformat.html#the_database_header. */
const headerLength = 100;

/** Undefined if the file is too short. */
export function readHeader(descriptor: number): Buffer | undefined {
  const header = Buffer.alloc(headerLength);
  return readSync(descriptor, header, 0, headerLength, 0) < headerLength ? undefined : header;
}

/** Whether the file was not opened since `skein backup` wrote it: the first start sets WAL mode. */
export function isBackup(header: Buffer | undefined): boolean {
  return header?.[18] === 1;
}

export function sizeByHeader(header: Buffer): number {
  const pageSize = header.readUInt16BE(16);
  return header.readUInt32BE(28) * (pageSize === 1 ? 65_536 : pageSize);
}
