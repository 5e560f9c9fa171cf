import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { eventually } from '../../harness/service/eventually.ts';
import {
  operate,
  runCommand,
  runSkein,
  type Service,
  temporaryFolder,
} from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';

/**
 * Scripts depend on the names, flags, exit codes and `--json` shapes of the commands. The snapshot next to this file holds
 * them; `node --test --test-update-snapshots` rewrites it. A changed line in it breaks somebody's script.
 */
const snapshot = join(import.meta.dirname, 'command-contract.snapshot');

describe('The contract of the commands', () => {
  let service: Service;
  const recorded: string[] = [];
  const used = new Set<string>();
  before(async () => {
    service = await sharedService();
  });

  /** Runs a command line with `--json`. A word like `{org}` is replaced in the call but kept in the snapshot. */
  async function run(line: string, values: Record<string, string> = {}, environment = {}): Promise<any> {
    const words = line
      .split(' ')
      .map((word) => word.replace(/\{(\w+)\}/, (_, name) => values[name] as string));
    remember(line);
    // `ask` reads its input, and `threads export` writes as it reads: they run as typed.
    const execute = /^(ask|threads export) /.test(line) ? runSkein : runCommand;
    const { exitCode, stdout } = await execute(service.folder, [...words, '--json'], environment);
    const json = stdout === '' ? undefined : JSON.parse(stdout.split('\n')[0] as string);
    record(line, exitCode, json);
    return json;
  }

  function record(line: string, exitCode: number, json?: unknown): void {
    recorded.push(
      `skein ${line}\n  exits with ${exitCode}${json === undefined ? '' : `, ${JSON.stringify(describeShape(json))}`}`,
    );
  }

  function remember(line: string): void {
    const name = parseCommand(line);
    used.add(name);
    for (const [, flag] of line.matchAll(/ (--[\w-]+)/g)) used.add(`${name} ${flag}`);
  }

  it('keeps the names, flags, exit codes and JSON shapes of all commands', async (test) => {
    const { id: org } = await run('org create Acme');
    const ids: Record<string, string> = { org, folder: service.folder };
    await run('org create Small --api off --quota 7');
    await run('org set {org} --api on --quota 5000', ids);
    await run('org list');
    await run('member add {org} ada@example.com --role admin', ids);
    await run('member add {org} bot@example.com --service', ids);
    await run('member add {org} gone@example.com', ids);
    await run('member invite {org} ada@example.com', ids);
    await run('member list {org}', ids);
    const { key } = await run('key create {org} --user ada@example.com --name Laptop', ids);
    ids.key = (await run('key create {org} --org-wide', ids)).id;
    ids.rotated = (await run('key rotate {org} {key} --old-valid-for 1h', ids)).id;
    await run('key revoke {org} {rotated}', ids);
    await run('key list {org}', ids);
    ids.app = (await run('app create {org} --name Report', ids)).clientId;
    await run('app list {org}', ids);
    await run('app rotate {org} {app}', ids);
    await run('app delete {org} {app}', ids);
    await run('signing-key rotate');
    await run('signing-key rotate --forget');

    const remote = { SKEIN_BASE_URL: service.baseUrl, SKEIN_API_KEY: key };
    const asked = await run('ask Hello --account acct_1 --title Greeting --verbose', ids, remote);
    ids.thread = asked.thread.id;
    await run('threads list --account acct_1 --limit 1', ids, remote);
    await run('threads list --all', ids, remote);
    await run('threads get {thread} --wait', ids, remote);
    await run('threads export --account acct_1', ids, remote);
    await run('thread publish {org} {thread}', ids);
    await run('thread unpublish {org} {thread}', ids);
    await run('threads rename {thread} Renamed', ids, remote);
    await run('threads delete {thread}', ids, remote);
    await run('threads delete {thread}', ids, remote);
    await run('ask #fail', ids, remote);

    writeFileSync(join(service.folder, 'returns.md'), '# Returns\n\nYarn can be returned for thirty days.\n');
    ids.file = join(service.folder, 'returns.md');
    ids.document = (await run('doc add {org} {file} --account acct_1', ids)).id;
    await run('doc list {org}', ids);
    await run('doc search {org} returns --account acct_1 --limit 1', ids);
    await run('doc remove {org} {document}', ids);
    await run('doc add Acme missing.md');
    // Counts of requests are saved once a second.
    await eventually(async () => (await operate(service.folder, ['usage', org])).requests.length > 0);
    await run('usage {org} --days 1', ids);
    await run('audit {org} --limit 1', ids);
    await run('audit {org} --trace none', ids);
    await run('member remove {org} gone@example.com', ids);
    await run('purge {org} --user bot@example.com --dry-run', ids);
    await run('purge {org} --yes', ids);
    ids.backup = join(temporaryFolder(), 'backup.db');
    ids.copy = `sqlite:${join(temporaryFolder(), 'copy.db')}`;
    await run('backup {backup}', ids);
    await run('backup {backup} --force', ids);
    ids.source = `sqlite:${ids.backup}`;
    await run('copy --from {source} --to {copy}', ids);
    await run('doctor');
    await run('model test');
    await run('model test Why?');
    const mail = { SKEIN_SMTP_URL: 'smtp://127.0.0.1:1', SKEIN_MAIL_FROM: 'skein@example.com' };
    await run('mail test ada@example.com', {}, mail);

    const invalid = ['dance', 'org', 'org create', 'org list now', 'org set Small', 'serve --role king'];
    const outcomes = await Promise.all(invalid.map((line) => runCommand(service.folder, line.split(' '))));
    for (const [index, { exitCode, stdout }] of outcomes.entries()) {
      assert.equal(stdout, '');
      record(invalid[index] as string, exitCode);
    }
    remember('serve --role king');
    // Not run here: one starts a browser, the other speaks a protocol.
    remember('mcp');
    remember('ask --open');
    test.assert.fileSnapshot(recorded, snapshot, { serializers: [(lines) => `${lines.join('\n')}\n`] });
  });

  it('covers every command and flag that the shell completes', async () => {
    const completed = new Set<string>();
    const offered = async (line: string): Promise<string[]> => {
      const { stdout } = await runCommand(service.folder, ['completion', 'offer', `skein ${line}`]);
      return [...stdout.matchAll(/^[^\t\n]+/gm)].map(([word]) => word);
    };
    const visit = async (name: string) => {
      const words = await offered(`${name} `);
      for (const word of words) if (!word.startsWith('-')) await visit(`${name} ${word}`);
      const flags = await offered(`${name} -`);
      // A group of commands has no flags of its own.
      if (flags.join() === '--help' && name !== 'mcp') return;
      completed.add(name);
      for (const flag of flags) if (flag !== '--json' && flag !== '--help') completed.add(`${name} ${flag}`);
    };
    for (const name of await offered('')) await visit(name);
    assert.deepEqual([...used].sort(), [...completed].sort());
  });
});

/** The command's name: words in lower case before its arguments. */
function parseCommand(line: string): string {
  const groups = /^(org|member|key|app|signing-key|thread|threads|doc|model|mail) /;
  return line
    .split(' ')
    .slice(0, groups.test(line) ? 2 : 1)
    .join(' ');
}

/** Replaces each value by its type. A list is described by its first element. */
function describeShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(describeShape);
  if (value === null || typeof value !== 'object') return value === null ? null : typeof value;
  const entries = Object.entries(value);
  // The rows of a purge: counts by table, which each release may add to.
  if (entries.length > 0 && entries.every(([name, one]) => /^[a-z_]+$/.test(name) && typeof one === 'number'))
    return 'counts';
  return Object.fromEntries(entries.map(([name, one]) => [name, describeShape(one)]));
}
