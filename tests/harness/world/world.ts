import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Api } from '../http/api.ts';
import { type ApiResponse, statusOfCode } from '../http/conformance.ts';
import { operate, root, Service, temporaryFolder } from '../service/service.ts';
import { sharedService } from '../service/shared-service.ts';
import { hire, type Key, type Operator } from './tenants.ts';

/** Two organizations and their keys. Ada and Ben are members of Acme, Eve of Globex. Acme also has an org-wide key. */
export interface Made {
  readonly acme: string;
  readonly globex: string;
  readonly adaKey: Key;
  readonly benKey: Key;
  readonly eveKey: Key;
  readonly wideKey: Key;
}

/** A running service with these organizations, and a client for each key. */
export interface World extends Made {
  readonly service: Service;
  readonly ada: Api;
  readonly ben: Api;
  readonly eve: Api;
  readonly acmeWide: Api;
  readonly nobody: Api;
  /** The public API with another credential. */
  as(key: string): Api;
  publish(...threadIds: string[]): Promise<void>;
  end(): Promise<void>;
}

let template: Promise<string> | undefined;

/** Creates a folder with a store that has both organizations and their keys. No service runs on it yet. */
export async function prepareStore(): Promise<Made & { folder: string }> {
  template ??= makeTemplate();
  const folderToCopy = await template;
  const made: Made = JSON.parse(readFileSync(join(folderToCopy, 'made.json'), 'utf8'));
  const folder = temporaryFolder();
  cpSync(join(folderToCopy, 'data'), join(folder, 'data'), { recursive: true });
  return { ...made, folder };
}

/** Two new organizations on the service that the test files of this process share. */
export async function sharedWorld(): Promise<World> {
  const service = await sharedService();
  const made = await makeCallers(service);
  return worldOn(service, made);
}

/** Two organizations on a separate service. */
export async function startWorld(environment: Record<string, string> = {}): Promise<World> {
  const { folder, ...made } = await prepareStore();
  const service = await Service.start({ folder, environment: { SKEIN_MODEL: 'scripted', ...environment } });
  return worldOn(service, made);
}

function worldOn(service: Service, made: Made): World {
  const as = (key: string) => new Api(service.baseUrl, key);
  return {
    ...made,
    service,
    ada: as(made.adaKey.key),
    ben: as(made.benKey.key),
    eve: as(made.eveKey.key),
    acmeWide: as(made.wideKey.key),
    nobody: new Api(service.baseUrl),
    as,
    publish: async (...threadIds) => {
      await Promise.all(threadIds.map((id) => service.skein('thread', 'publish', made.acme, id)));
    },
    end: async () => assert.equal(await service.end(), 0, 'the service stops cleanly'),
  };
}

/**
 * A folder with the store as nine `skein` commands leave it. They take 2 s, more than the tests of most files, so the
 * template is created once per state of the service's source and copied.
 */
async function makeTemplate(): Promise<string> {
  const template = join(root, 'node_modules/.cache/skein-world', sourceHash());
  if (existsSync(template)) return template;
  const folder = `${template}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'made.json'),
    JSON.stringify(await makeCallers({ skein: (...words) => operate(folder, words) })),
  );
  try {
    renameSync(folder, template);
  } catch {
    // Another test file was faster; use its template.
    rmSync(folder, { recursive: true });
  }
  const cache = dirname(template);
  const outdated = readdirSync(cache).filter((name) => !name.startsWith(basename(template)));
  for (const name of outdated) rmSync(join(cache, name), { recursive: true, force: true });
  return template;
}

function sourceHash(): string {
  const hash = createHash('sha256').update(readFileSync(import.meta.filename));
  const files = globSync('server/{src/**/*.{ts,sql},package.json}', { cwd: root }).sort();
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

async function makeCallers(operator: Operator): Promise<Made> {
  const { id: acme } = await operator.skein('org', 'create', 'Acme');
  const { id: globex } = await operator.skein('org', 'create', 'Globex');
  const [adaKey, benKey, eveKey, wideKey] = await Promise.all([
    hire(operator, acme, 'ada@acme.example'),
    hire(operator, acme, 'ben@acme.example'),
    hire(operator, globex, 'eve@globex.example'),
    operator.skein('key', 'create', acme, '--org-wide'),
  ]);
  return { acme, globex, adaKey, benKey, eveKey, wideKey };
}

/** Creates a thread and returns it with the ids of its messages. */
export async function createThread(api: Api, body: object = {}): Promise<any> {
  const answer = await api.create({ prompt: 'What is a skein?', ...body });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

/** Fails unless the response is this error, with its code and status (§7). */
export function assertFails(answer: ApiResponse, code: keyof typeof statusOfCode, what = ''): void {
  const found = `${what} got ${answer.status} ${JSON.stringify(answer.body)}`;
  assert.equal(answer.body?.error?.code, code, found);
  assert.equal(answer.status, statusOfCode[code], found);
}

/** Fails unless the error is `INVALID_PARAMS` and its message names the field. */
export function assertInvalid(answer: ApiResponse, field: string, what = ''): void {
  assertFails(answer, 'INVALID_PARAMS', what);
  const name = field === 'body' ? 'Request body' : `\`${field}\``;
  assert.ok(
    answer.body.error.message.includes(name),
    `${what} must name ${field}: ${answer.body.error.message}`,
  );
}
