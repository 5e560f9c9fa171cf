import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isExecutable } from '../service/machine.ts';
import { root } from '../service/service.ts';

/** A browser executable and the environment that it needs. */
export interface Chromium {
  readonly executable: string;
  readonly environment: Record<string, string>;
}

const run = promisify(execFile);
/** The headless shell comes first: a new session takes 0.9 s of processor time in it, and 2.8 s in the whole browser. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
];

/** Uses `CHROMIUM_PATH`, else the machine's browser, else the npm package's, else Debian's package. */
export async function findChromium(): Promise<Chromium> {
  const named = process.env.CHROMIUM_PATH;
  if (named) {
    if (!isExecutable(named)) throw new Error(`CHROMIUM_PATH is ${named}, which cannot be run.`);
    return { executable: named, environment: {} };
  }
  const installed = installedPlaces().find(isExecutable);
  if (installed !== undefined) return { executable: installed, environment: {} };
  return process.arch === 'x64' ? unpackedChromium() : installedFromDebian();
}

/** No npm package contains a Chromium for arm64. Test files that start together wait for dpkg's lock. */
async function installedFromDebian(): Promise<Chromium> {
  const install = ['install', '--yes', '--no-install-recommends', 'chromium-headless-shell'];
  try {
    await run('apt-get', ['update']);
    await run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...install]);
  } catch (cause) {
    throw new Error(`There is no Chromium for ${process.arch}: run 'apt-get ${install.join(' ')}' as root.`, {
      cause,
    });
  }
  return { executable: '/usr/bin/chromium-headless-shell', environment: {} };
}

function installedPlaces(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name)));
}

/**
 * The package contains the browser, the libraries that a bare machine lacks and a font, all compressed. They are
 * unpacked once per version (2 s), in a temporary folder that is then renamed, so that nobody sees a partial copy.
 */
async function unpackedChromium(): Promise<Chromium> {
  const packageFile = join(
    dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')),
    '../package.json',
  );
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8'));
  const folder = join(root, 'node_modules/.cache/skein-chromium', version);
  if (!existsSync(folder)) {
    const fresh = `${folder}.${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    const unpack = join(import.meta.dirname, 'unpack-chromium.ts');
    // The package unpacks into the system's temporary folder, so set that to ours.
    await run(process.execPath, [unpack], { env: { ...process.env, TMPDIR: fresh } });
    try {
      renameSync(fresh, folder);
    } catch {
      // Another test file was faster; use its copy.
      rmSync(fresh, { recursive: true });
    }
  }
  return {
    executable: join(folder, 'chromium'),
    environment: { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_PATH: join(folder, 'fonts') },
  };
}
