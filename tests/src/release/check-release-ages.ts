/**
 * `npm run lock:ages` fails if package-lock.json has a version that was released less than 14 days ago: most malicious
 * versions are found and removed within days. Versions that the lock already had 14 days ago are not looked up again.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../harness/service/service.ts';

const daysMin = 14;
const dayMs = 86_400_000;
/** Earlier versions were taken before this check existed. Without effect from 2026-11-25 on. */
const checkedSince = Date.parse('2026-11-11');
const atOnce = 10;

interface Entry {
  readonly name: string;
  readonly version: string;
}

const folder = process.argv[2] ?? root;
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const oldEnough = Math.max(Date.now() - daysMin * dayMs, checkedSince);
const exceptions: Readonly<Record<string, string>> = JSON.parse(read('package.json')).releasedRecently ?? {};

const known = new Set(parseEntries(lockBefore()).map(formatEntry));
const young: string[] = [];
const unknown: string[] = [];
const registry = run('npm', ['config', 'get', 'registry']).trim().replace(/\/*$/, '/');
const queue = Map.groupBy(
  parseEntries(read('package-lock.json')).filter((entry) => !known.has(formatEntry(entry))),
  ({ name }) => name,
).entries();
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (const [name, entries] of queue) {
      const times = await releaseTimes(name);
      for (const entry of entries) check(formatEntry(entry), times[entry.version]);
    }
  }),
);

if (unknown.length > 0) console.log(`The registry does not say when these were released: ${list(unknown)}.`);
if (young.length > 0) {
  console.error(
    `Released less than ${daysMin} days ago: ${list(young)}. Take older versions, or name those that fix a vulnerability in "releasedRecently" of package.json, each with its reason.`,
  );
  process.exitCode = 1;
}

function check(name: string, time: string | undefined): void {
  if (time === undefined) unknown.push(name);
  else if (!(Date.parse(time) <= oldEnough) && !(name in exceptions)) young.push(name);
}

/** By version. Empty if the registry cannot be reached, as on a machine that installs from a cache. */
async function releaseTimes(name: string): Promise<Readonly<Record<string, string>>> {
  try {
    const response = await fetch(`${registry}${name.replace('/', '%2f')}`);
    return ((await response.json()) as { time?: Record<string, string> }).time ?? {};
  } catch {
    return {};
  }
}

/** The lock file of 14 days ago, or an empty one without a history that long. */
function lockBefore(): string {
  try {
    const git = (...words: string[]) => run('git', ['-C', folder, ...words]);
    const before = `--before=${new Date(Date.now() - daysMin * dayMs).toISOString()}`;
    const commit = git('rev-list', '-1', before, 'HEAD', '--', 'package-lock.json').trim();
    if (commit !== '') return git('show', `${commit}:./package-lock.json`);
  } catch {
    // No repository, as in an unpacked archive.
  }
  return '{"packages":{}}';
}

function parseEntries(lock: string): Entry[] {
  const packages = Object.entries<{ name?: string; version: string; link?: boolean }>(
    JSON.parse(lock).packages,
  );
  return packages
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, { name, version }]) => ({ name: name ?? path.split('node_modules/').at(-1)!, version }));
}

function formatEntry({ name, version }: Entry): string {
  return `${name}@${version}`;
}

function list(names: readonly string[]): string {
  return [...new Set(names)].sort().join(', ');
}

function run(command: string, words: readonly string[]): string {
  return execFileSync(command, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}
