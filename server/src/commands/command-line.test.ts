import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Option } from 'commander';
import { type Arguments, type CommandLine, UsageError, whole } from './command.ts';
import { runCommandLine } from './command-line.ts';
import { loadSections } from './run.ts';

const commands: readonly CommandLine[] = [
  {
    name: 'doc add',
    arguments: { '<ORG>': 'An organization', '<FILE...>': 'Files' },
    options: [
      new Option('--account <ID>', 'An account'),
      new Option('--role <ROLE>', 'A role').choices(['admin', 'member']),
      new Option('--limit <N>', 'A limit').argParser(whole(1, 9)),
      new Option('--dry-run', 'A switch'),
    ],
    summary: 'Add a document',
    examples: [],
  },
  { name: 'threads list', summary: 'List', examples: [] },
  { name: 'thread publish', arguments: { '[ID]': 'An id' }, summary: 'Publish', examples: [] },
];

async function parse(...words: string[]): Promise<Arguments & { name: string }> {
  const calls: (Arguments & { name: string })[] = [];
  await runCommandLine({ 'All:': commands }, words, async ({ name }, args) => {
    calls.push({ name, ...args });
  });
  assert.equal(calls.length, 1, 'one command ran');
  return calls[0]!;
}

describe('A command line', () => {
  it('is parsed into arguments and options', async () => {
    const words = ['doc', 'add', 'o', '--account', 'i', 'a', 'b', '--dry-run', '--limit=3', '--json'];
    assert.deepEqual(await parse(...words), {
      name: 'doc add',
      positionals: ['o', 'a', 'b'],
      options: { account: 'i', dryRun: true, limit: 3, json: true },
    });
    assert.deepEqual((await parse('thread', 'publish')).positionals, []);
    assert.deepEqual((await parse('thread', 'publish', '-')).positionals, ['-']);
    assert.deepEqual((await parse('thread', 'publish', '--', '--json')).positionals, ['--json']);
  });

  const invalid: ReadonlyArray<readonly [words: string, message: RegExp]> = [
    ['doc add o', /missing required argument 'FILE'.*'skein doc add --help'/i],
    ['threads list o', /too many arguments/i],
    ['doc add o f --role king', /^Option '--role <ROLE>' argument is invalid.*admin, member/],
    [
      'doc add o f --limit hunter2',
      /^Option '--limit <N>' argument is invalid\. It must be an integer from 1 to 9\./,
    ],
    [
      "doc add o f --limit it's",
      /^Option '--limit <N>' argument is invalid\. It must be an integer from 1 to 9\./,
    ],
    ['doc add o f --limit 10', /1 to 9/],
    ['doc add o f --dry-run=1', /unknown option '--dry-run'/i],
    ['doc add o f --acount i', /Did you mean --account\?/],
    ['doc add o f --account', /argument missing/],
    ['doc add o f --account=', /^The value of '--account' is empty\. Run 'skein doc add --help'/],
    ['doc', /'skein doc' needs a subcommand: add\./],
    ['thread list', /Unknown command 'thread list'\. Did you mean 'threads list'\? Run 'skein help'/],
    ['dco add o f', /Unknown command 'dco add'\. Did you mean 'doc add'\?/],
    ['nope', /Unknown command 'nope'\. Run 'skein help'/],
    ['help dco add', /Unknown command 'dco add'\. Did you mean 'doc add'\?/],
    ['dance', /^Unknown command 'dance'\. Run 'skein help' for all commands\.$/],
    ['--json threads list', /unknown option '--json'/i],
  ];
  for (const [words, message] of invalid) {
    it(`is rejected in one sentence that helps: skein ${words}`, async () => {
      await assert.rejects(parse(...words.split(' ')), (error: Error) => {
        assert.ok(error instanceof UsageError, error.stack);
        assert.match(error.message, /^[A-Z'][^\n]*\.$/);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  it('is rejected without repeating an argument, which may hold a password, and in one line', async () => {
    const words = ['threads', 'list', 'postgres://me:secret@db\n'];
    await assert.rejects(
      parse(...words),
      /Too many arguments for 'list'\. Expected 0 arguments but got 1\. Run 'skein/,
    );
    await assert.rejects(parse(...words), (error: Error) => !error.message.includes('secret'));
    await assert.rejects(parse('threads', 'list', '--a\nb'), /Unknown option '--a\uFFFDb'\./);
  });

  it('gets a suggestion from all commands, which are loaded only for that', async () => {
    const some = { 'Some:': commands.filter(({ name }) => name === 'thread publish') };
    let loads = 0;
    const run = (words: string) =>
      runCommandLine<CommandLine>(
        some,
        words.split(' '),
        async () => {},
        async () => {
          loads += 1;
          return { 'All:': commands };
        },
      );
    await run('thread publish');
    await assert.rejects(run('thread publish a b'), /too many arguments/i);
    assert.equal(loads, 0);
    await assert.rejects(run('thread list'), /Did you mean 'threads list'\?/);
    await assert.rejects(run('thread publihs thr_1'), /Did you mean 'thread publish'\?/);
    await assert.rejects(run('thread'), /'skein thread' needs a subcommand: publish\./);
    assert.equal(loads, 2);
  });

  it('is rejected if an argument is empty, which is probably an unset variable', async () => {
    await assert.rejects(parse('doc', 'add', 'o', ''), /an argument of 'doc add' is empty/i);
  });
});

const allSections = await loadSections();

describe('The sections of the help', () => {
  it('are loaded by the first word of each of their commands, and by no other word', async () => {
    const titles = Object.keys(allSections);
    for (const [title, commands] of Object.entries(allSections)) {
      assert.ok(commands.length > 0);
      for (const { name } of commands)
        assert.deepEqual(Object.keys(await loadSections(name.split(' ')[0])), [title], name);
    }
    for (const word of ['', '--help', 'help', 'orgs'])
      assert.deepEqual(Object.keys(await loadSections(word)), titles, word);
  });
});

describe('The examples in the help', () => {
  for (const command of Object.values(allSections).flat()) {
    it(`are command lines that run: ${command.name}`, async () => {
      assert.ok(command.examples.length > 0);
      for (const example of command.examples) {
        // Without redirections and quotes, which are for a shell.
        const words = [...example.replace(/ [<>].*/, '').matchAll(/"([^"]*)"|\S+/g)].map(
          (word) => word[1] ?? word[0],
        );
        const ran: string[] = [];
        await runCommandLine<CommandLine>(allSections, words, async ({ name }) => {
          ran.push(name);
        });
        assert.deepEqual(ran, [command.name], example);
      }
    });
  }
});
