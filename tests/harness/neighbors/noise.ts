import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConsoleResponse } from '../console/console-client.ts';
import type { Api } from '../http/api.ts';
import type { ApiResponse } from '../http/conformance.ts';
import { keptDocuments, type Neighborhood, sessionHeaders, type Tenant } from './neighborhood.ts';

/** One thing that a hostile or careless tenant does. */
export interface Noise {
  readonly name: string;
  /** The outcomes that it may get: a status, how a reply ended, or that it was cut off. */
  readonly outcomes: readonly string[];
  /** How many MiB the service may grow during the noise. */
  readonly grownMbMax: number;
  /** Whether it depends on the store, so that it runs on both. */
  readonly isAboutStore: boolean;
  /** Makes the noise once, with a number of requests that depends on the size. Returns the outcome of each. */
  make(world: Neighborhood, size: NoiseSize): Promise<readonly string[]>;
}

/** `short` for every run of the tests, `full` for the benchmark. */
type NoiseSize = 'short' | 'full';

/** Far below the gigabytes that it took without limits. */
export const usualGrownMbMax = 400;

/** The baseline for the others. */
export const silence: Noise = {
  name: 'nobody',
  outcomes: [],
  grownMbMax: usualGrownMbMax,
  isAboutStore: true,
  make: () => pause(100, []),
};

const chunkBytes = 65_536;

/** Uploads a document of the tenant and returns the status. The rest of a file that is rejected early is not sent. */
export function upload(tenant: Tenant, name: string, file: Buffer): Promise<string> {
  const { admin, organizationId } = tenant;
  const url = new URL(`/console/organizations/${organizationId}/documents?name=${name}`, admin.baseUrl);
  const headers = {
    ...sessionHeaders(tenant),
    'content-type': 'application/octet-stream',
    'content-length': file.length,
  };
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', headers });
    sent.once('error', () => resolve('cut off'));
    sent.once('response', (response) => {
      response.resume().once('close', () => {
        resolve(String(response.statusCode));
        sent.destroy();
      });
    });
    let position = 0;
    const send = () => {
      while (position < file.length && !sent.destroyed) {
        const chunk = file.subarray(position, position + chunkBytes);
        position += chunkBytes;
        if (!sent.write(chunk)) return void sent.once('drain', send);
      }
      sent.end();
    };
    send();
  });
}

/** Removes all documents except the kept ones. */
export async function removeDocuments({ admin, organizationId }: Tenant): Promise<string[]> {
  const { body } = await admin.get(admin.at('/documents', organizationId));
  const added: { id: string; name: string }[] = body.documents.filter(
    ({ name }: { name: string }) => !keptDocuments.includes(name),
  );
  const path = admin.at('/documents/remove', organizationId);
  const answers: ConsoleResponse[] = await Promise.all(
    added.map(({ id }) => admin.post(path, { ids: [id] })),
  );
  return answers.map(({ status }) => String(status));
}

/** Creates a thread, waits for its reply and returns how it ended. */
export async function ask({ api }: Tenant, prompt: string): Promise<string> {
  const { status, body } = await api.create({ prompt });
  if (status !== 201) return String(status);
  const read = await untilEnded(api, body.thread.id);
  return read.status === 200 ? read.body.messages[1].status : String(read.status);
}

/** Waits for the end of a reply without polling: each read of a large thread takes processor time. */
export async function untilEnded(api: Api, id: string): Promise<ApiResponse> {
  for (;;) {
    const read = await api.get(id, { prefer: 'wait=20' });
    if (read.status !== 200 || read.body.status.state !== 'in_progress') return read;
  }
}

/** A GET with the tenant's session, as bytes. */
export function sessionRequest(tenant: Tenant, path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nCookie: ${sessionHeaders(tenant).cookie}\r\n\r\n`;
}
