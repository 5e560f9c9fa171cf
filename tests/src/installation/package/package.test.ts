import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { smallPdf } from '../../../harness/console/small-pdf.ts';
import { freePort } from '../../../harness/service/machine.ts';
import { cleanEnvironment, root, Service, temporaryFolder } from '../../../harness/service/service.ts';

const run = promisify(execFile);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

describe('The packed files, installed in an empty folder', () => {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  const skein = join(modules, '.bin/skein');
  let service: Service;
  let key: string;
  before(async () => {
    const packed = temporaryFolder();
    await run(process.execPath, [join(root, 'release/pack.ts'), '--to', packed]);
    const files = [`skein-${version}.tgz`, `skein-client-${version}.tgz`].map((name) => join(packed, name));
    const began = performance.now();
    const words = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...files];
    await run('npm', words, { cwd: folder, env: { ...process.env, NO_UPDATE_NOTIFIER: '1' } });
    console.log(`npm install took ${Math.round(performance.now() - began)} ms`);
    service = await Service.start({ folder, command: skein });
    key = /^ {2}(eak_\w+)$/m.exec(service.output.join('\n'))?.[1] ?? '';
  });
  after(() => service?.end());

  it('contain the service as JavaScript, and no build tools', () => {
    const files = globSync('**/*', { cwd: join(modules, 'skein') });
    for (const file of [
      'server/src/main.js',
      'answers/src/reading/reading-thread.js',
      'runtime/src/timers.js',
    ])
      assert.ok(files.includes(file), file);
    assert.ok(files.includes('server/src/storage/migrations/001-initial.sql'));
    assert.deepEqual(
      files.filter((file) => /\.(ts|tsx|map)$|\.test\./.test(file)),
      [],
    );
    const installed = readdirSync(modules);
    for (const tool of ['typescript', 'vite', 'astro', 'react', '@biomejs']) {
      assert.ok(!installed.includes(tool), tool);
    }
  });

  it('serve the console and the documentation as soon as the service is ready, and build nothing', async () => {
    for (const [path, title] of [
      ['/', /<title>Skein<\/title>/],
      ['/docs/', /<title>Documentation \| Skein<\/title>/],
      ['/docs/reference/', /Skein/],
    ] as const) {
      const response = await fetch(`${service.baseUrl}${path}`, { headers: { accept: 'text/html' } });
      assert.equal(response.status, 200, path);
      assert.match(await response.text(), title);
    }
    assert.ok(!existsSync(join(modules, 'skein/console/dist.lock')));
    assert.ok(!service.output.some((line) => line.includes('built')));
  });

  it('answer a question about a document that was just added', async () => {
    writeFileSync(join(folder, 'cat.html'), '<h1>The cat</h1><p>The shop cat is called Bobbin.</p>');
    const added = await run(skein, ['doc', 'add', 'Demo', 'cat.html'], {
      cwd: folder,
      env: cleanEnvironment({}),
    });
    assert.match(added.stdout, /The cat/);
    const { Skein } = await import(pathToFileURL(join(modules, '@skein/client/dist/index.js')).href);
    const client = new Skein({ baseUrl: service.baseUrl, apiKey: key });
    const { text, sources } = await client.threads.ask('What is the name of the cat?');
    assert.match(text, /Bobbin/);
    assert.equal(sources[0].title, 'The cat');
  });

  it('read every type of document with the packages installed beside them', async () => {
    const files = {
      'dog.md': '# The dog\n\nIt barks.',
      'dog.pdf': smallPdf('The shop dog'),
      'dog.html': '<p>The dog sleeps.',
      'dog.txt': 'The dog eats.',
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const words = ['doc', 'add', 'Demo', ...Object.keys(files)];
    const { stdout } = await run(skein, words, { cwd: folder, env: cleanEnvironment({}) });
    assert.equal(stdout.match(/^doc_\w+ +1 passage /gm)?.length, 4, stdout);
  });

  it('keep their data in the folder where the service was started', () => {
    assert.ok(existsSync(join(folder, 'data/skein.db')));
  });

  it('print the URL only after the console is built, if it has to be built', async (t) => {
    // A copy outside node_modules with a build that ends on demand.
    const copy = temporaryFolder();
    cpSync(join(modules, 'skein'), copy, { recursive: true });
    symlinkSync(modules, join(copy, 'node_modules'));
    rmSync(join(copy, 'console/dist'), { recursive: true });
    const build = `import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
      const timer = setInterval(() => {
        if (!existsSync('go')) return;
        mkdirSync('dist');
        writeFileSync('dist/index.html', 'built');
        clearInterval(timer);
      }, 20);`;
    writeFileSync(join(copy, 'console/build.ts'), build);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const cwd = temporaryFolder();
    const child = spawn(join(copy, 'server/bin/skein'), ['serve'], {
      cwd,
      env: cleanEnvironment({ SKEIN_PORT: String(port) }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    const page = async () => {
      const response = await fetch(url);
      return `${response.status} ${await response.text()}`;
    };
    const printed: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      printed.push(line);
      if (line.includes('building the console')) {
        assert.match(await page(), /^503 .*Just a moment/s);
        writeFileSync(join(copy, 'console/go'), '');
      } else if (line.includes(url)) {
        break;
      }
    }
    assert.ok(printed.some((line) => line.includes('building the console')));
    assert.equal(await page(), '200 built');
    // Documents are read although the packages are found through a link.
    writeFileSync(join(cwd, 'dog.md'), '# The dog\n\nIt barks.');
    const added = await run(join(copy, 'server/bin/skein'), ['doc', 'add', 'Demo', 'dog.md'], {
      cwd,
      env: cleanEnvironment({}),
    });
    assert.match(added.stdout, /The dog/);
  });
});
