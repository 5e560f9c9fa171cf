/**
 * `npm run image:test` builds the image of deploy/Dockerfile and runs the service from it: as the image's user, on a
 * read-only root file system. It needs root, `buildah`, `debootstrap` and Debian's apt configuration, and no container
 * engine: the base images are made here. Takes some minutes.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The parts of an image's configuration that decide how it runs. */
interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly Env: string[];
  readonly Entrypoint: string[];
  readonly Cmd: string[];
  readonly Healthcheck: { readonly Test: string[] };
}

interface ResponseBody {
  readonly thread: { readonly id: string };
  readonly messages: readonly [unknown, { readonly content: string }];
}

const root = join(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'skein-image-'));
const images = {
  base: 'localhost/skein-test-base',
  build: 'localhost/skein-test-build',
  skein: 'localhost/skein-test',
};
const containers: string[] = [];

/** Mounts the root file system of $1 read-only with the volume $2, and becomes user $3, without this machine's variables. */
const enter = `set -e
mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"
mount --bind "$2" "$1/var/lib/skein"
mount -t tmpfs tmpfs "$1/tmp"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
root=$1 user=$3 && shift 3
exec chroot --userspec="$user" "$root" /usr/bin/env -i "$@"`;

try {
  makeBaseImages();
  buildImage();
  await runService();
  console.log('The image works.');
} finally {
  for (const container of containers) run('buildah', 'rm', container);
  rmSync(scratch, { recursive: true, force: true });
}

function run(program: string, ...words: string[]): string {
  const env = { ...process.env, BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' };
  return execFileSync(program, words, {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}

/** A container of an image, and the folder with its root file system. */
function mountedContainer(image: string): { container: string; folder: string } {
  const container = run('buildah', 'from', '--pull-never', image);
  containers.push(container);
  return { container, folder: run('buildah', 'mount', container) };
}

/** A minimal Debian, and the same with Node.js and npm as the official images have them. Kept for the next run. */
function makeBaseImages(): void {
  if (run('buildah', 'images', '--quiet', '--filter', `reference=${images.build}`) !== '') return;
  const { container, folder } = mountedContainer('scratch');
  const [mirror = '', suite = ''] = run(
    'apt-get',
    'indextargets',
    '--format',
    '$(REPO_URI) $(CODENAME)',
    'Created-By: Packages',
  )
    .split('\n', 1)[0]!
    .split(' ');
  step(`Making a base image of Debian ${suite}`);
  run('debootstrap', '--variant=minbase', suite, folder, mirror);
  run('buildah', 'commit', container, images.base);
  const modules = 'usr/local/lib/node_modules/npm';
  cpSync(process.execPath, join(folder, 'usr/local/bin/node'), { dereference: true });
  cpSync(join(run('npm', 'root', '--global'), 'npm'), join(folder, modules), {
    recursive: true,
    dereference: true,
  });
  symlinkSync(`/${modules}/bin/npm-cli.js`, join(folder, 'usr/local/bin/npm'));
  run('buildah', 'commit', container, images.build);
}

function buildImage(): void {
  step('Building the image');
  const npmrc = join(scratch, 'npmrc');
  const cafile = run('npm', 'config', 'get', 'cafile');
  const hasCafile = existsSync(cafile);
  const cache = '/var/cache/npm';
  const settings = [`registry=${run('npm', 'config', 'get', 'registry')}`, `cache=${cache}`];
  // This machine's settings of npm stay out of the image.
  const volumes = [`${npmrc}:/usr/local/etc/npmrc:ro`, `${run('npm', 'config', 'get', 'cache')}:${cache}`];
  if (hasCafile) {
    settings.push(`cafile=${cafile}`);
    volumes.push(`${cafile}:${cafile}:ro`);
  }
  writeFileSync(npmrc, `${settings.join('\n')}\n`);
  const words = [
    ...['bud', '--format', 'docker', '--pull-never', '--file', 'deploy/Dockerfile', '--tag', images.skein],
    ...['--ignorefile', 'deploy/Dockerfile.dockerignore'],
    ...['--build-arg', `BUILD_IMAGE=${images.build}`, '--build-arg', `BASE_IMAGE=${images.base}`],
    ...volumes.flatMap((volume) => ['--volume', volume]),
    '.',
  ];
  console.log(run('buildah', ...words));
}

async function runService(): Promise<void> {
  step('Running the service');
  const { folder } = mountedContainer(images.skein);
  const config: ImageConfig = JSON.parse(run('buildah', 'inspect', '--type', 'image', images.skein)).Docker
    .config;
  assert.equal(config.User, '10001:10001');
  const megabytes = Number(run('du', '-sm', folder).split('\t')[0]);
  console.log(
    `The root file system has ${megabytes} MB, of which Skein is ${run('du', '-sm', join(folder, 'opt/skein')).split('\t')[0]} MB.`,
  );
  const volume = mkdtempSync(join(scratch, 'volume-'));
  const [uid, gid] = config.User.split(':').map(Number) as [number, number];
  chownSync(volume, uid, gid);

  const first = await start(folder, volume, config);
  const key = /eak_\w+/.exec(first.output.join('\n'))?.[0] ?? '';
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const create = { method: 'POST', headers, body: JSON.stringify({ prompt: 'What is a skein?' }) };
  const { thread } = await json(`${first.address}/api/v1/threads`, create);
  const { messages } = await json(`${first.address}/api/v1/threads/${thread.id}`, {
    headers: { ...headers, prefer: 'wait=20' },
  });
  assert.match(messages[1].content, /A skein is a length of yarn/);
  for (const page of ['/', '/docs/'])
    assert.equal((await fetch(`${first.address}${page}`)).status, 200, page);
  assert.match(readFileSync(`/proc/${first.pid}/status`, 'utf8'), new RegExp(`^Uid:\t${uid}\t${uid}`, 'm'));
  const writable =
    'for folder in / /opt/skein /tmp /var/lib/skein; do touch $folder/probe 2>/dev/null && echo $folder; done';
  assert.equal(inImage(folder, volume, config, ['sh', '-c', writable]), '/tmp\n/var/lib/skein');
  const [, ...healthCheck] = config.Healthcheck.Test;
  const port = new URL(first.address).port;
  inImage(folder, volume, config, healthCheck, { SKEIN_PORT: port });
  assert.throws(
    () => inImage(folder, volume, config, healthCheck, { SKEIN_PORT: '1' }),
    'the health check can fail',
  );
  assert.equal(await first.stop(), 0);

  const second = await start(folder, volume, config);
  const kept = await json(`${second.address}/api/v1/threads/${thread.id}`, { headers });
  assert.equal(kept.thread.id, thread.id, 'the volume keeps the data');
  assert.equal(await second.stop(), 0);
}

function wordsIn(
  folder: string,
  volume: string,
  config: ImageConfig,
  command: string[],
  environment: Record<string, string>,
): string[] {
  const variables = [
    ...config.Env,
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
  ];
  return [
    ...['--mount', 'sh', '-c', enter, 'enter', folder, volume, config.User],
    ...['-C', config.WorkingDir, ...variables, ...command],
  ];
}

function inImage(
  folder: string,
  volume: string,
  config: ImageConfig,
  command: string[],
  environment = {},
): string {
  return run('unshare', ...wordsIn(folder, volume, config, command, environment));
}

/** Starts the image's own command. It listens on loopback only, where it also creates the demo organization. */
async function start(folder: string, volume: string, config: ImageConfig) {
  const command = [...config.Entrypoint, ...config.Cmd];
  const words = wordsIn(folder, volume, config, command, { SKEIN_HOST: '127.0.0.1', SKEIN_PORT: '0' });
  // Each program in this chain replaces itself with the next, so this process becomes the service.
  const service = spawn('unshare', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => service.kill('SIGKILL'));
  const ended = once(service, 'exit');
  const output: string[] = [];
  let address = '';
  for await (const line of createInterface({ input: service.stdout })) {
    output.push(line);
    if (line.includes('"msg":"ready"')) {
      address = JSON.parse(line).address;
      break;
    }
  }
  assert.notEqual(address, '', output.join('\n'));
  const stop = async () => {
    service.kill('SIGTERM');
    return (await ended)[0];
  };
  return { pid: service.pid, address, output, stop };
}

/** A get or a create through the public API. */
async function json(url: string, init: RequestInit): Promise<ResponseBody> {
  const response = await fetch(url, init);
  assert.ok(response.ok, `${url}: ${response.status}`);
  return (await response.json()) as ResponseBody;
}

function step(text: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)} ${text}`);
}
