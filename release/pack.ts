/**
 * `npm run pack [-- --to FOLDER]` writes the npm packages `skein` and `@skein/client` as files, by default into `dist`.
 * It prints the size of each.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

/** The workspaces whose code the package contains, besides that of the client. */
const workspaces = ['server', 'answers', 'runtime'];

type Versions = Record<string, string>;

const root = join(import.meta.dirname, '..');
const bin = (name: string) => join(root, 'node_modules/.bin', name);
const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));

const { values } = parseArgs({ options: { to: { type: 'string', default: 'dist' } } });
const destination = resolve(root, values.to);

// Each build does nothing if its output is up to date.
for (const workspace of ['client', 'console', 'site']) {
  execFileSync(process.execPath, [join(root, workspace, 'build.ts')], { stdio: 'inherit' });
}
const staging = mkdtempSync(join(tmpdir(), 'skein-pack-'));
try {
  mkdirSync(destination, { recursive: true });
  pack(stageServer(join(staging, 'skein')));
  pack(stageClient(join(staging, 'client')));
} finally {
  rmSync(staging, { recursive: true, force: true });
}

/**
 * The service as plain JavaScript, because Node.js does not strip types below `node_modules`. Paths are those of the
 * repository, so the code finds its files in the same places.
 */
function stageServer(folder: string): string {
  execFileSync(bin('tsc'), ['-p', import.meta.dirname, '--outDir', folder], { stdio: 'inherit' });
  for (const file of globSync('**/*.js', { cwd: folder })) nameEmittedPrograms(folder, file);
  const { name, version, description, license, type, engines, optionalDependencies } =
    readJson('package.json');
  const manifests = workspaces.map((workspace) => readJson(`${workspace}/package.json`));
  const dependencies = Object.assign({}, ...manifests.map((manifest) => manifest.dependencies));
  const files = [
    ...globSync('server/src/storage/migrations/*.sql', { cwd: root }),
    ...['server/bin', 'server/demo', 'console/dist', 'site/dist', 'README.md', 'CHANGELOG.md', 'LICENSE'],
  ];
  for (const file of files) cpSync(join(root, file), join(folder, file), { recursive: true });
  for (const workspace of manifests)
    writeJson(join(folder, basename(workspace.name), 'package.json'), {
      ...{ name: workspace.name, version, private: true, type },
    });
  writeJson(join(folder, 'package.json'), {
    ...{ name, version, description, license, type, engines },
    bin: { skein: 'server/bin/skein' },
    files: [...workspaces, 'client', 'console', 'site', 'CHANGELOG.md'],
    dependencies: testedVersions(dependencies),
    optionalDependencies: testedVersions(optionalDependencies),
  });
  return folder;
}

/** Threads and child processes name their programs by URL, which the compiler does not change. */
function nameEmittedPrograms(folder: string, file: string): void {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  const renamed = text.replaceAll(/'(\.{1,2}\/[\w./-]+)\.ts'/g, (_, program: string) => {
    if (!existsSync(join(dirname(path), `${program}.js`))) throw new Error(`${file} needs ${program}.ts`);
    return `'${program}.js'`;
  });
  if (renamed !== text) writeFileSync(path, renamed);
}

/** The exact versions of direct dependencies that the tests ran with. npm ignores a lock file inside a package. */
function testedVersions(dependencies: Versions): Versions {
  const { packages } = readJson('package-lock.json');
  return Object.fromEntries(
    Object.keys(dependencies).map((name) => [name, packages[`node_modules/${name}`].version]),
  );
}

function stageClient(folder: string): string {
  const { private: _, devDependencies, ...manifest } = readJson('client/package.json');
  for (const file of ['dist', 'README.md']) {
    cpSync(join(root, 'client', file), join(folder, file), { recursive: true });
  }
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeJson(join(folder, 'package.json'), manifest);
  return folder;
}

function writeJson(file: string, value: Manifest): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly entryCount: number;
}

function pack(folder: string): void {
  const words = ['pack', '--json', '--ignore-scripts', '--offline', '--pack-destination', destination];
  const output = execFileSync('npm', words, { cwd: folder, encoding: 'utf8' });
  const [packed] = Object.values<Packed>(JSON.parse(output)) as [Packed];
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`;
  console.log(
    `${join(destination, packed.filename)}: ${mb(packed.size)}, ${mb(packed.unpackedSize)} in ${packed.entryCount} files unpacked`,
  );
}
