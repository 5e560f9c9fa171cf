import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { readDocument, readerWith } from '../../testing/read-document.ts';
import { toProgramUrl } from '../../testing/reading-program.ts';

const root = join(import.meta.dirname, '../../..');
const [addon] = globSync(join(root, 'node_modules/@node-rs/argon2-linux-*/*.node'));
const deniesNetwork = process.allowedNodeEnvironmentFlags.has('--allow-net');

describe('A parser that a hostile file has taken over', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-permissions-'));
  const database = join(folder, 'skein.db');
  const server = createServer((socket) => socket.end());
  let port = 0;

  before(async () => {
    writeFileSync(join(folder, 'secret'), 'secret');
    new DatabaseSync(database).exec('CREATE TABLE organization (id TEXT)');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as { port: number }).port;
  });
  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  /** Code that tries each of these, and makes `outcomes` of them: `done`, or the code of the error. */
  function attempts(service: number): string {
    const written = JSON.stringify(join(folder, 'written'));
    const tried: Record<string, string> = {
      'read a file': `fs.readFileSync(${JSON.stringify(join(folder, 'secret'))})`,
      'read a file of the system': "fs.readFileSync('/etc/hostname')",
      'read the database': `fs.readFileSync(${JSON.stringify(database)})`,
      'open the database': `new (process.getBuiltinModule('node:sqlite').DatabaseSync)(${JSON.stringify(database)})
          .prepare('SELECT * FROM organization').all()`,
      "read the service's environment": `fs.readFileSync('/proc/${service}/environ')`,
      'list a folder': "fs.readdirSync('/tmp')",
      'read a file through a promise': "await fs.promises.readFile('/etc/hostname')",
      'read the other files of the repository': `fs.readFileSync(${JSON.stringify(join(root, 'package-lock.json'))})`,
      'write a file': `fs.writeFileSync(${written}, '')`,
      'change its own program': `fs.closeSync(fs.openSync(${JSON.stringify(import.meta.filename)}, 'a'))`,
      'create a link': `fs.symlinkSync('/etc', ${written} + '-link')`,
      'start a process': "failing(childProcess.spawnSync('true').error)",
      'start a thread': "await new Worker('', { eval: true }).terminate()",
      'start a thread without restrictions': `await new Promise((resolve, reject) => new Worker(
          "require('fs').readFileSync('/etc/hostname')", { eval: true, execArgv: [] })
          .on('error', reject).on('exit', resolve))`,
      'load a native addon': `process.dlopen({ exports: {} }, ${JSON.stringify(addon)})`,
      'run WebAssembly with the file system': `new (process.getBuiltinModule('node:wasi').WASI)(
          { version: 'preview1', preopens: { '/': '/' } })`,
      'attach a debugger': 'new inspector.Session().connect()',
      'send a signal to the service': `process.kill(${service}, 0)`,
      'reach the internals of Node.js': "process.binding('fs')",
      'open a connection': `await new Promise((resolve, reject) => connect(${port}, '127.0.0.1')
          .on('error', reject).on('connect', function () { this.destroy(); resolve(); }))`,
    };
    const tries = Object.entries(tried).map(
      ([name, code]) => `try {
        ${code};
        outcomes[${JSON.stringify(name)}] = 'done';
      } catch (error) {
        outcomes[${JSON.stringify(name)}] = error.code ?? error.name;
      }`,
    );
    return `const outcomes = {};\n${tries.join('\n')}`;
  }

  const imports = `
    import childProcess from 'node:child_process';
    import fs from 'node:fs';
    import inspector from 'node:inspector';
    import { connect } from 'node:net';
    import { Worker } from 'node:worker_threads';
    function failing(error) { if (error) throw error; }`;

  async function collectOutcomes(code: string, atStart = ''): Promise<Record<string, unknown>> {
    const program = toProgramUrl(
      `${code}; return { title: '', url: null, passages: [{ heading: '', text: JSON.stringify(outcomes) }] };`,
      atStart,
    );
    const { passages } = await readDocument('a.md', Buffer.from('Text.'), readerWith({}, program));
    return JSON.parse(passages[0]!.text);
  }

  it('can read no file, write nothing, start nothing, load no addon and signal no process', async () => {
    const script = `${imports}\n${attempts(process.pid)}\nconsole.log(JSON.stringify(outcomes));`;
    const words = ['--no-warnings', '--input-type=module', '--eval', script];
    const free: Record<string, string> = JSON.parse(
      (await promisify(execFile)(process.execPath, words)).stdout,
    );
    assert.deepEqual(
      Object.entries(free).filter(([, outcome]) => outcome !== 'done'),
      [],
      'a process without restrictions can do all of it',
    );
    rmSync(join(folder, 'written'));
    rmSync(join(folder, 'written-link'));
    const expected = Object.fromEntries(Object.keys(free).map((name) => [name, 'ERR_ACCESS_DENIED']));
    assert.deepEqual(await collectOutcomes(attempts(process.pid), imports), {
      ...expected,
      'open the database': 'TypeError',
      'load a native addon': 'ERR_DLOPEN_DISABLED',
      'send a signal to the service': 'TypeError',
      'open a connection': deniesNetwork ? 'ERR_ACCESS_DENIED' : 'done',
    });
    assert.deepEqual(readdirSync(folder).toSorted(), ['secret', 'skein.db']);
  });

  it('has no environment: neither secrets nor options that lift its restrictions', async (t) => {
    const { NODE_OPTIONS } = process.env;
    t.after(() => {
      delete process.env.SKEIN_TEST_SECRET;
      process.env.NODE_OPTIONS = NODE_OPTIONS ?? '';
      if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
    });
    process.env.SKEIN_TEST_SECRET = 'secret';
    process.env.NODE_OPTIONS = '--permission --allow-fs-read=* --allow-fs-write=* --allow-child-process';
    const code = `const outcomes = {
      environment: Object.keys(process.env),
      granted: ['fs.read', 'fs.write', 'child', 'worker'].filter((scope) => process.permission.has(scope, '/etc/hostname')),
    };`;
    assert.deepEqual(await collectOutcomes(code), { environment: [], granted: [] });
  });
});

describe('The service', () => {
  it('survives anything that a reading process sends, and reads the next file', async () => {
    const answers = {
      'no JSON': "'hello\\n'",
      'no object': "'null\\n'",
      'no passages': `'{"part":5}\\n'`,
      'a message of Node.js': 'Buffer.from([0, 0, 0, 10, 65, 65, 65, 65, 65, 65, 65, 65, 65, 65, 10])',
      'an endless line': "'x'.repeat(1_000_000)",
    };
    for (const [name, answer] of Object.entries(answers)) {
      const program = toProgramUrl(
        `if (text === 'hostile') fs.writeFileSync(3, ${answer}); return parseDocument(name, bytes, limits);`,
        "import fs from 'node:fs';",
      );
      const reader = readerWith({ documentLengthMax: 1_000, documentReaders: 1 }, program);
      const hostile = readDocument('a.md', Buffer.from('hostile'), reader);
      const next = readDocument('b.md', Buffer.from('Next.'), reader);
      await assert.rejects(hostile, { message: 'the process that reads files failed' }, name);
      assert.equal((await next).passages[0]?.text, 'Next.', name);
    }
  });
});
