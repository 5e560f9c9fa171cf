import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../api/contract.ts';
import { buildFileName, replyMarkdown, threadMarkdown } from './thread-markdown.ts';
import { groupExchanges, hasEarlierVersions } from './versions.ts';

const at = '2026-11-16T08:00:00.000Z';
const prompt = (id: string, replaces?: string): Json<'message'> => {
  return { id, role: 'user', content: id, createdAt: at, ...(replaces !== undefined && { replaces }) };
};
const reply = (
  id: string,
  sources: [string, string | null][] = [],
): Json<'message'> & { role: 'assistant' } => ({
  id,
  role: 'assistant',
  content: id,
  createdAt: at,
  status: 'completed',
  completedAt: at,
  steps: [],
  sources: sources.map(([title, url]) => ({ id: 'doc_1', title, url, snippet: '' })),
  model: null,
  traceId: null,
  failure: null,
  verdict: null,
});
const shapeOf = (messages: Json<'message'>[]) =>
  groupExchanges(messages).map((turns) =>
    turns.map((turn) => [turn.prompt.id, ...turn.replies.map(({ id }) => id)].join(' ')),
  );

describe('The versions of a thread', () => {
  it('of a reply are those that follow the same prompt', () => {
    assert.deepEqual(shapeOf([prompt('a'), reply('A1'), reply('A2'), prompt('b'), reply('B')]), [
      ['a A1 A2'],
      ['b B'],
    ]);
  });

  it('of a prompt have the replies to each of them', () => {
    const messages = [prompt('a'), reply('A'), prompt('b'), reply('B1'), reply('B2')];
    const edits = [prompt('c', 'b'), reply('C'), prompt('d', 'c')];
    assert.deepEqual(shapeOf([...messages, ...edits]), [['a A'], ['b B1 B2', 'c C', 'd']]);
  });

  it('are reported if a prompt was edited or a reply regenerated', () => {
    const plain = [prompt('a'), reply('A'), prompt('b'), reply('B')];
    assert.equal(hasEarlierVersions(plain), false);
    assert.equal(hasEarlierVersions([...plain, reply('B2')]), true);
    assert.equal(hasEarlierVersions([...plain, prompt('c', 'b')]), true);
  });
});

describe('Markdown', () => {
  it('of a reply lists its sources, with links to web pages only', () => {
    const sources: [string, string | null][] = [
      ['A [title]\nwith a break', 'https://a.example/x_(y)'],
      ['No link', 'javascript:alert(1)'],
    ];
    assert.equal(
      replyMarkdown(reply('Yes [1].', sources)),
      'Yes [1].\n\n**Sources**\n\n1. [A \\[title\\] with a break](<https://a.example/x_(y)>)\n2. No link\n',
    );
    assert.equal(replyMarkdown(reply('Plain')), 'Plain');
  });

  it('of a thread has the current versions only', () => {
    const messages = [prompt('a\n# b'), reply('A1'), reply('A2'), prompt('c', 'a\n# b'), reply('C')];
    const thread = { title: 'A\ntitle' } as Json<'threadView'>['thread'];
    const lines = (some: Json<'message'>[]) =>
      [...threadMarkdown({ thread, messages: some, state: 'idle' })].join('');
    assert.equal(lines(messages.slice(0, 3)), '# A title\n\n> a\n> # b\n\nA2\n');
    assert.equal(lines(messages), '# A title\n\n> c\n\nC\n');
  });
});

describe('The file name of an export', () => {
  it('is safe on every file system', () => {
    for (const [title, name] of [
      ['How long?', 'How-long.md'],
      ['../../.ssh/config', 'ssh-config.md'],
      ['Größe 🧶 naïve', 'Größe-naïve.md'],
      ['nul', 'thread.md'],
      ['🧶', 'thread.md'],
      ['\u3164', 'thread.md'],
      ['葛\u{E0100}城', '葛城.md'],
      ['x.exe', 'x-exe.md'],
      ['a'.repeat(500), `${'a'.repeat(80)}.md`],
    ] as const)
      assert.equal(buildFileName(title, 'md'), name);
  });
});
