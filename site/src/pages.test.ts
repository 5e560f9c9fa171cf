import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { linkedFiles, readPages, resolveLink, toSlug, withUrls } from './pages.ts';

describe('Pages', () => {
  const repository = mkdtempSync(join(tmpdir(), 'skein-pages-'));
  after(() => rmSync(repository, { recursive: true, force: true }));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(repository, file)), { recursive: true });
    writeFileSync(join(repository, file), text);
  };
  write('README.md', '# Skein\n\n[docs](docs/README.md) and the [license](LICENSE)\n');
  write('LICENSE', 'MIT');
  write('docs/README.md', '# Documentation\n');
  write('docs/errors.md', '# `Errors`\n\n[one](#one), [settings](operating.md#settings)\n');
  write('docs/operating.md', '# Operating\n\n[a dashboard](grafana-dashboard.json)\n');
  write('docs/grafana-dashboard.json', '{}');
  write('docs/decisions/README.md', '# Decisions\n');
  for (const page of ['authentication', 'api-guide']) write(`docs/${page}.md`, `# ${page}\n`);
  write('openapi.json', '{"info":{"description":"An API."},"paths":{},"components":{"schemas":{}}}');

  it('have URLs derived from their file names', () => {
    const slugs = [
      'docs/README.md',
      'docs/errors.md',
      'docs/decisions/README.md',
      'docs/decisions/0001-a.md',
    ];
    assert.deepEqual(slugs.map(toSlug), ['index', 'errors', 'decisions', 'decisions/0001-a']);
    const beside = ['README.md', 'ARCHITECTURE.md', 'bench/README.md', 'examples/bot/README.md'];
    assert.deepEqual(beside.map(toSlug), [
      'project/readme',
      'project/architecture',
      'project/bench',
      'project/examples/bot',
    ]);
  });

  it('take their title from the first line, and remove it from the text', () => {
    const errors = readPages(repository).find(({ slug }) => slug === 'errors');
    assert.equal(errors?.title, 'Errors');
    assert.ok(!errors?.body.includes('# '));
    write('docs/untitled.md', 'No title\n');
    assert.throws(() => readPages(repository), /docs\/untitled\.md does not begin with a title/);
    rmSync(join(repository, 'docs/untitled.md'));
  });

  it('link to pages, anchors, folders and files', () => {
    const urlOf = (from: string, link: string) => resolveLink(repository, from, link).url;
    assert.equal(urlOf('docs/errors.md', '#one'), '#one');
    assert.equal(urlOf('docs/errors.md', 'operating.md#settings'), '/docs/operating/#settings');
    assert.equal(urlOf('docs/decisions/README.md', '../README.md'), '/docs/');
    assert.equal(urlOf('README.md', 'docs/decisions'), '/docs/decisions/');
    assert.equal(urlOf('docs/errors.md', '../openapi.json'), '/docs/reference/');
    assert.deepEqual(linkedFiles(repository), [
      { file: 'LICENSE', url: '/docs/files/LICENSE.txt' },
      { file: 'docs/grafana-dashboard.json', url: '/docs/files/docs/grafana-dashboard.json' },
    ]);
  });

  it('fail to build with a broken link or a link out of the site', () => {
    for (const link of ['missing.md', '../missing', 'decisions/0001-a.md']) {
      assert.throws(() => resolveLink(repository, 'docs/errors.md', link), /which the site does not have/);
    }
    write('server/notes.md', '# Notes\n');
    assert.throws(() => resolveLink(repository, 'docs/errors.md', '../server/notes.md'), /does not have/);
  });

  it('leave code and external links unchanged', () => {
    const text =
      '[a](b.md)\n\n```sh\n[a](b.md)\n```\n\n  ```ts\n  [a](b.md)\n  ```\n[c](https://example.org/d.md)\n';
    assert.equal(
      withUrls(text, (link) => `/${link}`),
      text.replace('(b.md)', '(/b.md)'),
    );
  });
});
