import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { corroborate, passage, refunds, shipping } from '../../testing/corroboration-fixture.ts';
import type { FoundPassage } from '../port/documents.ts';

describe('the revision of a draft', () => {
  it('numbers the sources by document, in order of first citation', async () => {
    const { text, sources } = await corroborate(
      'Parcels to Norway cost €12 [2]. A refund is paid to the card [3]. Gift cards cannot be refunded [1].',
    );
    assert.equal(
      text,
      'Parcels to Norway cost €12 [1]. A refund is paid to the card [2]. Gift cards cannot be refunded [2].',
    );
    assert.deepEqual(
      sources.map(({ id, title }) => [id, title]),
      [
        ['doc_Shipping', 'Shipping'],
        ['doc_Refunds', 'Refunds'],
      ],
    );
  });

  it('adds the file to the title of a source if another source has the same title', async () => {
    const overview = (name: string, text: string): FoundPassage => ({
      ...passage('Overview', text),
      documentId: `doc_${name}`,
      name,
    });
    const passages = [
      overview('billing/index.md', 'Invoices leave the house on Monday.'),
      overview('shipping/index.md', 'Parcels leave the house on Tuesday.'),
      refunds,
    ];
    const titlesFor = async (draft: string) =>
      (await corroborate(draft, passages)).sources.map(({ title }) => title);
    assert.deepEqual(
      await titlesFor(
        'Invoices leave the house on Monday. Parcels leave the house on Tuesday. Gift cards cannot be refunded.',
      ),
      ['Overview (billing/index.md)', 'Overview (shipping/index.md)', 'Refunds'],
    );
    assert.deepEqual(await titlesFor('Invoices leave the house on Monday.'), ['Overview']);
  });

  it('removes citations without support, and adds missing ones', async () => {
    const { text, sources } = await corroborate(
      'Unused goods are refunded within 90 days [1]. The sky is green [2][9]. Parcels leave the house on Tuesday.',
    );
    assert.equal(
      text,
      'Unused goods are refunded within 90 days. The sky is green. Parcels leave the house on Tuesday [1].',
    );
    assert.deepEqual(
      sources.map(({ title }) => title),
      ['Shipping'],
    );
  });

  it('replaces a citation of a document that does not support the statement with one that does', async () => {
    const { text, sources } = await corroborate('Parcels to Norway cost €12 [1].');
    assert.equal(text, 'Parcels to Norway cost €12 [1].');
    assert.deepEqual(
      sources.map(({ title }) => title),
      ['Shipping'],
    );
  });

  it('keeps code, links and layout unchanged', async () => {
    const draft =
      '# Costs [1]\n\n```js\nlist[1] = 2; // [1]\n```\n\n- Parcels to Norway cost €12 [2]\n- See [1](https://example.org) and `a[1]`.\n\n\nBye!\n';
    const { text } = await corroborate(draft);
    assert.equal(text, draft.replace('# Costs [1]', '# Costs').replace('€12 [2]', '€12 [1]'));
  });

  const head = '| What | Rule |\n|---|---|\n';
  /** Drafts and their revised texts. A draft without one stays unchanged. */
  const revisions: Record<string, [draft: string, text?: string][]> = {
    'keeps a citation that its sentence needs, and names a document that is not a source': [
      [
        'According to [1] and [2], gift cards cannot be refunded.',
        'According to [1] and “Shipping”, gift cards cannot be refunded.',
      ],
      [
        'As [2] says, parcels to Norway cost €12. Gift cards cannot be refunded [1].',
        'As [1] says, parcels to Norway cost €12. Gift cards cannot be refunded [2].',
      ],
      ['See [1] and [2].', 'See “Refunds” and “Shipping”.'],
      ['See [1, 2].', 'See “Refunds” and “Shipping”.'],
      ['As [1] says, it is so.', 'As “Refunds” says, it is so.'],
      ['It is so. [1] says that gift cards cannot be refunded.'],
      ['Goats are green, whereas [2] has red ones.', 'Goats are green, whereas “Shipping” has red ones.'],
      [
        'According to [9], gift cards cannot be refunded.',
        'According to an unknown source, gift cards cannot be refunded [1].',
      ],
    ],
    'removes a citation with its parentheses, spaces and joining words': [
      ['Gift cards cannot be refunded [1] and [2].', 'Gift cards cannot be refunded [1].'],
      ['Gift cards cannot be refunded ([2], [1]).', 'Gift cards cannot be refunded [1].'],
      ['Goats are green ([1]), and big [2].', 'Goats are green, and big.'],
      ['[1] Goats are green.', 'Goats are green.'],
    ],
    'distinguishes an index from a citation, even without a space before it': [
      ['Array a[1] = 3'],
      ['Goats eat goat_ids[12] and f(x)[1] and a[1][2].'],
      [
        'Gift cards[1] cannot be refunded. Parcels[2] to Norway cost €12.',
        'Gift cards cannot be refunded [1]. Parcels to Norway cost €12 [2].',
      ],
      ['The _rule_[2] of 2024[1] is green.', 'The _rule_ of 2024 is green.'],
      ['山羊是绿色的[1]。', '山羊是绿色的。'],
      ['Gift cards cannot be refunded[2].', 'Gift cards cannot be refunded [1].'],
      ['Goats are green[1], and big[2][1].', 'Goats are green, and big.'],
    ],
    'keeps the citations of a table in their cells': [
      [
        `${head}| Gift cards | cannot be refunded [1] |\n| Parcels to Norway [2] | cost €12 [1] |\n`,
        `${head}| Gift cards | cannot be refunded [1] |\n| Parcels to Norway [2] | cost €12 |\n`,
      ],
      [
        `${head}| Gift cards | cannot be refunded |${' '.repeat(300)}|\n`,
        `${head}| Gift cards | cannot be refunded [1] |${' '.repeat(300)}|\n`,
      ],
      [
        `${head}| Gift cards | cannot be refunded \\| |\n`,
        `${head}| Gift cards | cannot be refunded \\| [1] |\n`,
      ],
      [
        'What | Rule\n--- | ---\nGift cards | cannot be refunded\n',
        'What | Rule\n--- | ---\nGift cards | cannot be refunded [1]\n',
      ],
    ],
    'keeps the citation of a clause next to a clause that was not found': [
      [
        'Gift cards cannot be refunded [1], and the director plays the trombone [2].',
        'Gift cards cannot be refunded [1], and the director plays the trombone.',
      ],
      [
        'Gift cards cannot be refunded, but the director plays the trombone [1].',
        'Gift cards cannot be refunded [1], but the director plays the trombone.',
      ],
      [
        'The director plays the trombone; parcels to Norway cost €12 [2].',
        'The director plays the trombone; parcels to Norway cost €12 [1].',
      ],
    ],
    'keeps the citations of clauses from different documents': [
      ['Gift cards cannot be refunded [1], and parcels to Norway cost €12 [2].'],
      ['Unused goods are refunded within 30 days [1] and parcels leave the house on Tuesday [2].'],
    ],
    'cites the true sentence or line between two that were not found': [
      ['Cats sleep late. Gift cards cannot be refunded [1]. Dogs bark loudly.'],
      [
        'Cats sleep late\nGift cards cannot be refunded\nDogs bark loudly',
        'Cats sleep late\nGift cards cannot be refunded [1]\nDogs bark loudly',
      ],
      ['Gift cards\r\ncannot be refunded.\r\n', 'Gift cards\r\ncannot be refunded [1].\r\n'],
    ],
    'puts a citation before the ellipsis of a truncated answer': [
      ['Gift cards cannot be refunded …', 'Gift cards cannot be refunded [1] …'],
    ],
  };
  for (const [promise, cases] of Object.entries(revisions)) {
    it(promise, async () => {
      for (const [draft, text = draft] of cases)
        assert.equal((await corroborate(draft, [refunds, shipping])).text, text);
    });
  }

  /** What the passages say word for word, so that it would be cited anywhere else. */
  const found = 'Gift cards cannot be refunded.';
  for (const [where, draft] of Object.entries({
    'a heading': `# ${found}\n`,
    'a heading of a list item': `- ## ${found}\n`,
    'a heading in a quotation': `> ### ${found}\n`,
    'an underlined heading': `${found}\n===\n`,
    'an underlined heading of two lines': `Unused goods are refunded within 30 days.\n${found}\n---\n`,
    'an underlined heading in a quotation': `> ${found}\n> ---\n`,
    'the header of a table': `| ${found} | Parcels to Norway cost €12. |\n|---|:-:|\n`,
    'the header of a table without outer pipes': `Gift cards | cannot be refunded\n--- | ---\n`,
    'the header of a table in a quotation': `> | ${found} | x |\n> |---|---|\n`,
    'a code block': `\`\`\`\n${found}\n\`\`\`\n`,
    'a code block that never ends': `~~~\n${found}\n`,
    'a code block with a fence in it': `\`\`\`\`\n\`\`\`\n${found}\n\`\`\`js\n${found}\n\`\`\`\`\n`,
    'a code block with a tilde fence in it': `\`\`\`\n~~~\n${found}\n\`\`\`\n`,
    'a code block of a list item': `- \`\`\`\n  ${found}\n  \`\`\`\n`,
    'a code block below a list item': `1. x\n\n   \`\`\`\n   ${found}\n   \`\`\`\n`,
    'a code block in a quotation': `> \`\`\`\n> ${found}\n> \`\`\`\n`,
    'indented code': `    ${found}\n    ${found}\n`,
    'code indented with a tab': `\t${found}\n`,
    'indented code in a list item': `- x\n\n      ${found}\n`,
    'indented code in a quotation': `>     ${found}\n`,
    'inline code': `\`${found}\`\n`,
    'inline code with backticks in it': `\`\` \`a\` ${found} \`\`\n`,
    'inline code over two lines': `\`Gift cards\ncannot be refunded.\`\n`,
  })) {
    it(`puts no citation into ${where}`, async () => {
      const { text, verdict } = await corroborate(draft);
      assert.equal(text, draft);
      assert.equal(verdict, undefined);
    });
  }

  it('puts no citation into inline code that contains the end of a sentence', async () => {
    const draft = 'Gift cards cannot be `refunded. Parcels` to Norway cost €12.\n';
    const { text } = await corroborate(draft);
    assert.match(text, /`refunded\. Parcels`/);
    const overLines = 'Use `npm. Gift cards\nCannot be refunded. Or` so.\n';
    assert.match((await corroborate(overLines)).text, /`npm\. Gift cards\nCannot be refunded\. Or`/);
  });

  it('cites text that follows a heading, a table header or code', async () => {
    for (const before of [
      '# Refunds\n',
      'Refunds\n===\n',
      '```\nx\n```\n',
      '    x\n\n',
      '- x\n\n  ',
      '| Goods | Rule |\n|---|---|\n| x | y |\n\n',
      '`a` ',
    ]) {
      const { text } = await corroborate(`${before}${found}\n`);
      assert.equal(text, `${before}Gift cards cannot be refunded [1].\n`);
    }
  });

  it('shows the supporting sentence as the snippet, in whole words and at most 300 characters', async () => {
    const filler = 'Nothing of interest happens in this long sentence about the weather. ';
    const long = passage('Long', `${filler.repeat(8)}The ferry sails at noon. ${filler.repeat(8)}`);
    const { sources } = await corroborate('The ferry sails at noon.', [long]);
    assert.match(sources[0]!.snippet, /The ferry sails at noon\./);
    assert.ok(sources[0]!.snippet.length <= 300);
    const endless = passage('Endless', `The ferry sails ${'onward and '.repeat(60)}home`);
    const cut = await corroborate('The ferry sails onward and home.', [endless]);
    assert.match(cut.sources[0]!.snippet, /(?:onward|and)…$/);
    assert.ok(cut.sources[0]!.snippet.length <= 300);
  });

  it('shows in the snippet every cited sentence of a document that fits', async () => {
    const filler = 'Nothing of interest happens in this sentence about the weather. ';
    const long = passage('Long', `The ferry sails at noon. ${filler.repeat(8)}Dogs travel in the hold.`);
    const other = passage('Long', `The ship carries 40 cars. ${filler.repeat(8)}`);
    const { sources } = await corroborate(
      'The ferry sails at noon. Dogs travel in the hold. The ship carries 40 cars.',
      [long, other],
    );
    assert.equal(sources.length, 1);
    const { snippet } = sources[0]!;
    assert.equal(snippet, 'The ferry sails at noon. … Dogs travel in the hold. … The ship carries 40 cars.');
  });

  it('shows a sentence once in the snippet, even if two statements need it', async () => {
    const [live, deleted] = ['Branches live for five days', 'deleted by the nightly job.'];
    const branches = passage('Branches', `${live}. After that they are ${deleted}`);
    const { sources } = await corroborate(`${live}. ${live} and are ${deleted}`, [branches]);
    assert.equal(sources[0]!.snippet, `${live}. … After that they are ${deleted}`);
  });
});
