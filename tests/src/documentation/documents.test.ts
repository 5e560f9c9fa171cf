import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, matchesGlob, relative } from 'node:path';
import { describe, it } from 'node:test';
import { findSection, parseBlocks, withoutBlocks } from '../../harness/documents/markdown.ts';
import { root } from '../../harness/service/service.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
/** Generated folders. */
const ignored = read('.gitignore')
  .split('\n')
  .filter((line) => line.endsWith('/'))
  .map((line) => line.slice(0, -1));
const isIgnored = (path: string) =>
  path
    .split('/')
    .some((part) => part.startsWith('.') || ignored.some((pattern) => matchesGlob(part, pattern)));
const written = globSync('**', { cwd: root, exclude: (path) => path !== '.' && isIgnored(path) });
const documents = written.filter((path) => path.endsWith('.md'));

describe('The documents', () => {
  it('all exist', () => {
    for (const name of [
      'README.md',
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      'docs/errors.md',
    ]) {
      assert.ok(documents.includes(name), name);
    }
  });

  it('link to files and headings that exist', () => {
    const links = documents.flatMap((path) =>
      [...withoutBlocks(read(path)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => ({
        path,
        target: target as string,
      })),
    );
    const local = links.filter(({ target }) => !/^[a-z]+:/.test(target));
    assert.ok(local.length > 20);
    for (const { path, target } of local) {
      const [file, heading] = target.split('#') as [string, string | undefined];
      const linked = file === '' ? path : relative(root, join(root, dirname(path), file));
      assert.ok(existsSync(join(root, linked)), `${path} links to ${target}, which does not exist`);
      if (heading !== undefined) {
        assert.ok(listHeadings(linked).includes(heading), `${path}: ${linked} has no heading #${heading}`);
      }
    }
  });

  it('name files and folders that exist', () => {
    const names = documents.flatMap((path) =>
      [...withoutBlocks(read(path)).matchAll(/`((?:server|tests|bench|docs|\.ci)\/[\w./-]+)`/g)].map(
        ([, name]) => ({
          path,
          name: name as string,
        }),
      ),
    );
    assert.ok(names.length > 20);
    for (const { path, name } of names) {
      assert.ok(existsSync(join(root, name)), `${path} names ${name}, which does not exist`);
    }
  });

  it('name npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = documents.flatMap((path) =>
      [...read(path).matchAll(/\bnpm (?:run (?:--silent )?)?(start|test|(?<=run |--silent )[\w:-]+)/g)].map(
        ([, script]) => ({ path, script: script as string }),
      ),
    );
    assert.ok(named.length > 10);
    for (const { path, script } of named) assert.ok(scripts[script], `${path} names the script ${script}`);
  });
});

describe('ARCHITECTURE.md', () => {
  it('lists every folder, and no others', () => {
    const [map] = parseBlocks(findSection(read('ARCHITECTURE.md'), '## Folders'));
    const mapped = map?.text.match(/^[\w/.-]+(?=\/)/gm) ?? [];
    const folders = written.filter(
      (path) => path !== '.' && statSync(join(root, path)).isDirectory() && hasFiles(path),
    );
    assert.deepEqual(
      mapped,
      folders.sort(),
      "the map under '## Folders' differs from the folders that are there",
    );
  });
});

describe('CONTRIBUTING.md', () => {
  it('shows a violation with the message of the broken rule', () => {
    const { forbidden } = createRequire(import.meta.url)('../../../.dependency-cruiser.cjs');
    const [violation] = parseBlocks(findSection(read('CONTRIBUTING.md'), '## Import rules'));
    const [, name, reason] = /^ +error ([\w-]+): [^\n]+\n(.*)$/s.exec(violation?.text ?? '') ?? [];
    const rule = forbidden.find((candidate: { name: string }) => candidate.name === name);
    assert.equal(reason?.trim().replaceAll(/\s+/g, ' '), rule?.comment);
  });
});

describe('docs/decisions', () => {
  const folder = 'docs/decisions';
  const pages = readdirSync(join(root, folder))
    .filter((name) => name !== 'README.md')
    .sort();

  it('are numbered from 0001 without a gap', () => {
    assert.ok(pages.length >= 9);
    assert.deepEqual(
      pages.map((name) => name.slice(0, 5)),
      pages.map((_, index) => `${String(index + 1).padStart(4, '0')}-`),
    );
  });

  it('are all in the index, in order and under their titles', () => {
    const listed = [...read(`${folder}/README.md`).matchAll(/^(\d+)\. \[(.+)\]\((.+)\)$/gm)];
    assert.deepEqual(
      listed.map(([, number, title, page]) => [Number(number), title, page]),
      pages.map((page, index) => [index + 1, readTitle(`${folder}/${page}`), page]),
    );
  });

  it('each have a context, a decision, consequences and evidence', () => {
    for (const page of pages) {
      assert.deepEqual(
        [...withoutBlocks(read(`${folder}/${page}`)).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading),
        ['Context', 'Decision', 'Consequences', 'Shown by'],
        page,
      );
    }
  });
});

function readTitle(path: string): string | undefined {
  return /^# (.+)\n/.exec(read(path))?.[1];
}

/** The anchors that GitHub gives to headings. */
function listHeadings(path: string): string[] {
  return [...withoutBlocks(read(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** False for an empty folder, which Git does not store. */
function hasFiles(folder: string): boolean {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).some((entry) =>
    entry.isFile(),
  );
}
