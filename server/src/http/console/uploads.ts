import { randomUUID } from 'node:crypto';
import { open, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { FairQueue } from '../../../../runtime/src/pure/fair-queue.ts';
import { counted, formatBytes } from '../../../../runtime/src/pure/text.ts';
import { nextTurn } from '../../../../runtime/src/turns.ts';
import { invalid, rateLimited, type ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { allowSlowBody, askForBody, joinPieces } from '../wire/index.ts';
import type { ConsoleOptions, MemberCall } from './route.ts';

const nameOf = (pid: number) => `.skein-upload-${pid}-${randomUUID()}`;
const named = /^\.skein-upload-(\d+)-[0-9a-f-]{36}$/;

type Upload = Pick<MemberCall, 'organizationId' | 'recheck' | 'reply'>;

/** How long most uploads take. */
const uploadSeconds = 5;

/** Writes the body of a request to a file, and removes the file after `work`. Without a body, the file is empty. */
export function uploadReceiver({ limits, uploadFolder }: ConsoleOptions) {
  const { documentBytesMax, uploadsMax } = limits;
  const slots = new FairQueue<OrganizationId>(Number.POSITIVE_INFINITY, uploadsMax);
  return async <T>(call: Upload, work: (path: string) => Promise<T>): Promise<T> => {
    const { organizationId, recheck } = call;
    const { headers, raw, body } = call.reply.request;
    if (!slots.take(organizationId)) {
      const running = counted(uploadsMax, 'upload');
      throw rateLimited(
        `Your organization already has ${running} in progress. Try again when one finishes.`,
        uploadSeconds,
      );
    }
    const path = join(uploadFolder, nameOf(process.pid));
    try {
      if (body === undefined) {
        await writeFile(path, '', { flag: 'wx', mode: 0o600 });
        return await work(path);
      }
      if (headers['content-type'] !== 'application/octet-stream') {
        throw invalid('Content-Type must be application/octet-stream.');
      }
      if (Number(headers['content-length'] ?? 0) > documentBytesMax) throw tooLarge(documentBytesMax);
      allowSlowBody(raw);
      if (headers.expect !== undefined) askForBody(call.reply);
      await receive(organizationId, joinPieces(raw), path, documentBytesMax);
      await recheck();
      return await work(path);
    } finally {
      await rm(path, { force: true }).finally(() => slots.release(organizationId));
    }
  };
}

/**
 * Each write wakes a thread that may take the processor from the event loop. On two busy cores this happened 1,300 times
 * for 100 MB when every chunk was written as it came, and 380 times with writes of 1 MiB.
 */
const writtenAtOnce = 1_048_576;
/**
 * After each write. Receiving takes 3 to 12 ms of the event loop for 1 MiB, so an upload over a fast network would otherwise
 * occupy most of it. 50 MB take a second longer.
 */
const restMs = 20;

async function receive(
  organizationId: string,
  body: Readable,
  path: string,
  bytesMax: number,
): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    let bytes = 0;
    let waiting: Buffer[] = [];
    let waitingBytes = 0;
    const write = async () => {
      const chunk = Buffer.concat(waiting, waitingBytes);
      [waiting, waitingBytes] = [[], 0];
      await file.writeFile(chunk);
    };
    for await (const chunk of chunksOf(body)) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes < writtenAtOnce) continue;
      await nextTurn(organizationId);
      await write();
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
    await write();
  } finally {
    await file.close();
  }
}

/** The chunks of a body. A connection that breaks before the end is the caller's fault; a failed write is not. */
async function* chunksOf(body: Readable): AsyncGenerator<Buffer> {
  try {
    // Not destroyed if it is too long: that would close the connection before the response.
    yield* body.iterator({ destroyOnReturn: false });
  } catch (cause) {
    throw invalid('Upload was interrupted before it was complete.', { cause });
  }
}

/** Removes files that killed processes left in the folder. */
export async function removeLeftUploads(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = named.exec(name) ?? [];
    // This process has just started, so a file with its pid is from an earlier process.
    if (pid === undefined || (Number(pid) !== process.pid && isProcessRunning(Number(pid)))) continue;
    await rm(join(folder, name), { force: true });
  }
}

/** Even if it belongs to another user. */
function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function tooLarge(bytesMax: number): ServiceError {
  return invalid(`File is larger than ${formatBytes(bytesMax)}.`);
}
