import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { findSection, tableRows } from '../../harness/documents/markdown.ts';
import { root } from '../../harness/service/service.ts';

/** Every rule of the specification: under its section, its number or the row of its table. */
const rules: Record<string, string[]> = {
  '1': ['create', 'poll', 'operations', 'JSON', 'enabled', 'organization'],
  '2.1': [
    'fields',
    'id',
    'title',
    'createdAt',
    'updatedAt',
    'accountId',
    'secondaryId',
    'published',
    'deleted',
    'threadUrl',
  ],
  '2.2': [
    'fields',
    'id',
    'threadId',
    'role',
    'content',
    'status',
    'createdAt',
    'completedAt',
    'steps',
    'sources',
    'attachments',
    'model',
    'user message',
  ],
  '2.3': ['state', 'activeMessageId', 'latestUpdate', 'stepCount'],
  '2.4': ['create', 'get', 'list', 'rename', 'delete', 'failure'],
  '3.1': ['idle', 'in_progress', 'error', 'derived'],
  '3.2': ['create', 'rename', 'delete'],
  '3.3': ['in_progress', 'corroborating', 'completed', 'failed', 'cancelled'],
  '4.1': ['credential', 'prompt', 'title', 'accountId', 'secondaryId', 'response', 'attribution'],
  '4.2': ['response', 'personal key', 'org-wide', 'missing', 'deleted', 'not visible', 'other organization'],
  '4.3': ['limit', 'cursor', 'accountId', '.1', '.2', '.3', '.4', '.5', '.6', '.7'],
  '4.4': ['credential', 'title', 'only title', 'response', 'another user’s'],
  '4.5': ['credential', 'no body', 'response', 'soft'],
  '5': ['.1', '.4', '.6', '.7', '.9'],
  '5.2': ['API key', 'application'],
  '5.3': ['API key', 'client secret'],
  '5.5': ['create', 'list', 'get', 'rename', 'delete'],
  '5.8': ['revocation', 'leaving', 'org-wide', 'application'],
  '6': [''],
  '7': [
    'envelope',
    'code',
    'message',
    'trace_id',
    'INVALID_PARAMS',
    'UNAUTHORIZED',
    'FORBIDDEN',
    'NOT_FOUND',
    'RATE_LIMITED',
    'INTERNAL_ERROR',
  ],
  '8': ['quota', 'limit', 'prompt, title', '.1', '.2', '.3', '.4', '.5'],
  '9': ['path', 'beta'],
};
const ruleIds = Object.entries(rules).flatMap(([section, names]) =>
  names.map((name) => (name === '' || name.startsWith('.') ? `${section}${name}` : `${section} ${name}`)),
);

const document = readFileSync(join(root, 'docs/spec-coverage.md'), 'utf8');
const withoutTest = '## Rules without a test';
const silent = '## Where the specification is silent';
const unshown = tableRows(findSection(document, withoutTest)).map(([rule]) => rule as string);
const shown = tableRows(document).filter((cells) => cells.length === 3) as [string, string, string][];
const named = shown.flatMap(([rule, , tests]) =>
  tests.split('<br>').map((test) => {
    const [, file = '', title = ''] = /^`([\w-]+)` (.+)$/.exec(test) ?? [];
    return { rule, file, title };
  }),
);

/** The titles of the tests of each file, as they are written. */
const written = new Map(
  globSync(join(root, 'tests/src/spec/*.test.ts')).map((path) => {
    const titles = [...readFileSync(path, 'utf8').matchAll(/^\s*it\(\s*'([^']+)',/gm)];
    return [basename(path, '.test.ts'), titles.map(([, title]) => title as string)];
  }),
);

describe('docs/spec-coverage.md', () => {
  it('has every rule of the specification once, with its tests or the reason why it has none', () => {
    const ofSpecification = new Set(ruleIds);
    assert.equal(ofSpecification.size, ruleIds.length);
    const decisions = tableRows(findSection(document, silent)).map(([rule]) => rule as string);
    const listed = [...shown.map(([rule]) => rule), ...unshown].filter((rule) => !decisions.includes(rule));
    assert.deepEqual(listed.toSorted(), ruleIds.toSorted());
    for (const decision of decisions) assert.ok(!ofSpecification.has(decision), decision);
  });

  it('names only tests that exist, by the exact title', () => {
    assert.ok(named.length > ruleIds.length);
    for (const { rule, file, title } of named) {
      assert.ok(
        written.get(file)?.includes(title),
        `${rule} names '${title}' in ${file}, which is not there`,
      );
    }
  });

  it('names every test in tests/src/spec', () => {
    assert.ok(written.size > 0);
    for (const [file, titles] of written) {
      assert.ok(titles.length > 0, file);
      for (const title of titles) {
        const isNamed = named.some((test) => test.file === file && test.title === title);
        assert.ok(isNamed, `'${title}' in ${file} is not named: which rule does it show?`);
      }
    }
  });

  it('has no test that is skipped, left for later or run alone', () => {
    for (const file of written.keys()) {
      const text = readFileSync(join(root, `tests/src/spec/${file}.test.ts`), 'utf8');
      assert.doesNotMatch(text, /\b(it|describe)\.(skip|only|todo)\b|\b(skip|only|todo): /, file);
    }
  });
});
