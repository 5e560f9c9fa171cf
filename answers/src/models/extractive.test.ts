import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createLibrary, type LibraryFixture } from '../../testing/library-fixture.ts';
import { shopDocuments } from '../../testing/shop-documents.ts';
import { answeredQuestions } from '../composition/example-questions.ts';
import type { ConversationTurn } from '../port/model.ts';
import { extractiveModel } from './extractive.ts';

describe('the extractive model', () => {
  let fixture: LibraryFixture;
  before(async () => {
    const { store, documents } = createLibrary(shopDocuments);
    const suggest = answeredQuestions(extractiveModel(store));
    const signal = AbortSignal.timeout(60_000);
    const withQuestions = [];
    for (const document of documents) {
      const headings = document.passages.map(({ heading }) => heading).filter(Boolean);
      const questions = await suggest({ ...document, id: document.documentId, headings }, signal);
      withQuestions.push({ ...document, questions });
    }
    fixture = createLibrary(withQuestions);
  });

  async function reply(conversation: readonly ConversationTurn[], signal = AbortSignal.timeout(60_000)) {
    const { store, organizationId } = fixture;
    const result = {
      text: '',
      types: [] as string[],
      steps: [] as string[],
      sources: [] as string[],
      snippets: [] as string[],
    };
    const request = { organizationId, accountId: null, conversation, attempt: 1, signal };
    for await (const event of extractiveModel(store).reply(request)) {
      result.types.push(event.type);
      if (event.type === 'text') result.text += event.text;
      if (event.type === 'step') result.steps.push(event.description);
      if (event.type !== 'sources') continue;
      result.sources = event.sources.map(({ title }) => title);
      result.snippets = event.sources.map(({ snippet }) => snippet);
    }
    return result;
  }

  const ask = (...prompts: string[]) => reply(prompts.map((content) => ({ role: 'user', content })));

  it('quotes the passage that answers, with the decisive sentence in bold and its citation', async () => {
    const { text, sources } = await ask('How long do I have to get unused goods refunded?');
    assert.equal(
      text.split('\n\n')[0],
      '**Unused goods are refunded within 30 days of purchase.** Sale items are refunded within 14 days. [1]',
    );
    assert.equal(sources[0], 'Refund policy');
  });

  it('reports its steps and what it found', async () => {
    const { steps, types } = await ask('When does the shop open?');
    assert.deepEqual(steps, [
      'Searching 16 passages',
      'Reading Opening hours',
      'All 2 statements found in 1 source',
    ]);
    assert.ok(types.indexOf('text') < types.indexOf('corroborating'));
    assert.equal(types.at(-1), 'sources');
  });

  it('shows what it quotes as the snippet, as it stands in the passage', async () => {
    const { text, snippets } = await ask('How long do indigo vats rest?');
    assert.match(text, /\*\*Indigo vats rest for eight days\.\*\*/);
    assert.deepEqual(snippets, [
      'Indigo vats rest for eight days. Madder roots dry in the attic. The apprentices write it.',
    ]);
    const list = await ask('How do I ask for a refund?');
    assert.equal(
      list.snippets[0],
      'Follow these steps: 1. Open the order page. 2. Choose “Return”. 3. Print the label.',
    );
    const bulleted = await ask('What does safflower need?');
    assert.match(bulleted.snippets[0]!, /Safflower needs: - Cold water\. - Citric acid\.$/);
    const code = await ask('How do I track a parcel?');
    assert.match(
      code.snippets[0]!,
      /^Parcels are tracked with a command: ``` track --parcel 42 ``` The tracking/,
    );
  });

  it('shows every quote from a document in its snippet', async () => {
    const { text, snippets } = await ask('What acid does safflower need, and how long do indigo vats rest?');
    assert.match(text, /Citric acid.*eight days/s);
    assert.deepEqual(snippets, [
      'Safflower needs: - Cold water. - Citric acid. … Indigo vats rest for eight days. Madder roots dry in the attic. The apprentices write it.',
    ]);
  });

  it('cuts a snippet at 300 characters', async () => {
    const { snippets } = await ask('Was the river high and the weather poor?');
    assert.match(snippets[0]!, /^The river was high.*…$/);
    assert.ok(snippets[0]!.length > 200 && snippets[0]!.length <= 300, snippets[0]);
  });

  it('answers every part of a question', async () => {
    const { text, sources } = await ask('Who teaches the workshops, and when does the shop open?');
    assert.match(text, /Odile Farrant.*\[1\]\n\n.*9:30.*\[2\]/s);
    assert.deepEqual(sources, ['People', 'Opening hours']);
  });

  it('says which part of a question it found no answer to', async () => {
    const { text } = await ask('When does the shop open, and what is the melting point of tungsten?');
    assert.match(text, /9:30/);
    assert.match(text, /\n\nI did not find an answer to “what is the melting point of tungsten\?”\.$/);
  });

  it('quotes a sentence that several passages have only once', async () => {
    const { text } = await ask('How are secrets concealed from listings?');
    assert.equal(text.match(/The loom conceals secrets/g)?.length, 1, text);
  });

  it('quotes the same sentence for each option that it describes', async () => {
    const { text } = await ask('What sets the shuttle tension in grams?');
    assert.match(text, /`--warp`.*`--weft`/s);
  });

  it('highlights the definition when the question asks for one', async () => {
    assert.match((await ask('What is a skein?')).text, /\*\*A skein is a length of yarn\.\*\*/);
    const { text } = await ask('What is the difference between a skein and a ball?');
    assert.match(text, /A skein is a length of yarn.*A ball is wound/s);
  });

  it('quotes a list with its introduction, and never the question above it', async () => {
    const { text } = await ask('How do I ask for a refund?');
    assert.match(
      text,
      /^\*\*Follow these steps:\*\*\n\n1\. Open the order page\.\n2\. Choose “Return”\.\n3\. Print the label\. \[1\]/,
    );
  });

  it('quotes a row of a table under its header', async () => {
    const { text } = await ask('What does shipping to Norway cost?');
    assert.match(
      text,
      /\| Zone \| Price \|\n\| --- \| --- \|\n(?:\| Domestic \| €4\.50 \|\n)?\| Norway \| €12\.00 \|/,
    );
  });

  it('keeps code in its fences', async () => {
    const { text } = await ask('How do I track a parcel?');
    assert.match(text, /\*\*Parcels are tracked with a command:\*\*\n\n```\ntrack --parcel 42\n```/);
  });

  it('quotes the lines of long code that answer, in fences', async () => {
    const { text } = await ask('Which option of the command shows only late parcels?');
    assert.match(text, /```\n(?:.*\n)*-l, --late {2}only parcels that are late\n(?:.*\n)*```\n\n\[1\]/);
    assert.equal(text.match(/```/g)?.length, 2);
  });

  it('answers a part of a question whose subject is named only in the other part', async () => {
    const { text } = await ask('How long are unused goods refunded and how long sale items?');
    assert.match(text, /within 30 days.*within 14 days/s);
  });

  it('understands a short follow-up question', async () => {
    const { text } = await ask('How long do I have for a refund of unused goods?', 'And for sale items?');
    assert.match(text, /Sale items are refunded within 14 days/);
  });

  async function askAfterReply(first: string, ...followUps: string[]) {
    const conversation: ConversationTurn[] = [{ role: 'user', content: first }];
    let answer = await reply(conversation);
    for (const content of followUps) {
      conversation.push({ role: 'assistant', content: answer.text }, { role: 'user', content });
      answer = await reply(conversation);
    }
    return answer;
  }

  it('prefers what the previous reply did not quote in the reply to a follow-up question', async () => {
    const { text } = await askAfterReply('What is a skein?', 'Tell me more');
    assert.match(text, /^\*\*Every skein of ours is a skein to love/);
  });

  it('continues with the last question that has a subject if it is asked for more twice', async () => {
    const { text } = await askAfterReply('What is a skein?', 'Tell me more', 'Tell me more');
    assert.match(text, /skein/);
    assert.doesNotMatch(text, /^I did not find an answer/);
  });

  it('reads a question after a definition together with it', async () => {
    assert.match((await askAfterReply('What is a skein?', 'And why?')).text, /skein/);
  });

  it('defines a subject that is named alone after a definition', async () => {
    for (const prompt of ['And a ball?', 'What about a ball?', 'How about the ball?', 'Or balls?']) {
      assert.match(
        (await askAfterReply('What is a skein?', prompt)).text,
        /\*\*A ball is wound\.\*\*/,
        prompt,
      );
    }
    const { text } = await askAfterReply('What is a skein?', 'And a cake?');
    assert.equal(text, 'I did not find an answer in the documents.');
  });

  it('quotes a sentence again if it has what a follow-up question asks for', async () => {
    const { text } = await askAfterReply('Are unused goods refunded?', 'And how long does it take?');
    assert.match(text, /^\*\*Unused goods are refunded within 30 days of purchase\.\*\*/);
  });

  it('quotes a sentence again if it has all words of a follow-up question', async () => {
    const text =
      'You have 60 days to return yarn. Wound yarn cannot be returned. Needles and hooks can be returned if they are unused.';
    const handbook = { title: 'Handbook', passages: [{ heading: 'Returns', text }] };
    await withLibrary([handbook], async () => {
      const { text } = await askAfterReply('How long do I have to return yarn?', 'What about wound yarn?');
      assert.match(text, /\*\*Wound yarn cannot be returned\.\*\*/);
    });
  });

  it('does not answer for a name that no document mentions, however it is written', async () => {
    for (const name of ['Canada', 'canada', 'CANADA']) {
      const { text } = await ask(`What does shipping to ${name} cost?`);
      assert.match(text, /^I did not find a direct answer\. The documents do not mention “canada”\. /, name);
    }
  });

  it('offers the closest passages if it is not sure', async () => {
    const { text, sources } = await ask('Which café serves the best almond cake in the shop?');
    assert.match(text, /^I did not find a direct answer\. The closest passages are:\n\n.*café/s);
    assert.ok(sources.length > 0);
  });

  it('says plainly that it found nothing, without citing anything', async () => {
    for (const question of ['What is the capital of Australia?', 'What is 14 + 14?', 'xyzzy', '']) {
      const { text, sources } = await ask(question);
      assert.equal(text, 'I did not find an answer in the documents.', question);
      assert.deepEqual(sources, []);
    }
  });

  it('says when the question is in another language than the documents', async () => {
    const { text } = await ask('Welche Farben gibt es und wann ist das Fest?');
    assert.match(
      text,
      /They are in English, and your question seems to be in German: try asking in English\.$/,
    );
  });

  async function withLibrary(
    other: Parameters<typeof createLibrary>[0],
    test: () => Promise<void>,
  ): Promise<void> {
    const usual = fixture;
    fixture = createLibrary(other);
    try {
      await test();
    } finally {
      fixture = usual;
    }
  }

  it('does not answer with a sentence whose answer is cut off', () => {
    const start = Array.from({ length: 16 }, (_, at) => `the depot in ward ${at + 1} sorts sacks,`).join(' ');
    const text = `Every week ${start} and express delivery to Norway costs €12.`;
    const handbook = { title: 'Handbook', passages: [{ heading: 'Carriers', text }] };
    return withLibrary([handbook, ...shopDocuments.slice(-1)], async () => {
      const { types } = await ask('How much does express delivery to Norway cost?');
      assert.ok(types.includes('unanswered'));
    });
  });

  it('tells documents with the same title apart in its sources and steps', () => {
    const storage = (name: string, text: string) => ({ title: 'Storage', name, passages: [text] });
    const documents = [
      storage('cellar.md', 'The glaze is kept in the cellar.'),
      storage('attic.md', 'The clay is kept in the attic.'),
    ];
    return withLibrary(documents, async () => {
      const { sources, steps } = await ask('Where is the glaze kept, and where is the clay kept?');
      assert.deepEqual(sources, ['Storage (cellar.md)', 'Storage (attic.md)']);
      assert.ok(steps.includes('Reading Storage (cellar.md)'), steps.join('\n'));
    });
  });

  it('says how to add documents if there are none', () =>
    withLibrary([], async () => {
      for (const prompt of ['When does the shop open?', 'Who are you?']) {
        assert.match((await ask(prompt)).text, /no documents .*`skein doc add`/);
      }
    }));

  it('reports questions as unanswered unless it answers at least a part of them', async () => {
    const isUnanswered = async (prompt: string) => (await ask(prompt)).types.includes('unanswered');
    assert.equal(await isUnanswered('When does the shop open?'), false);
    assert.equal(await isUnanswered('Hello!'), false);
    assert.equal(await isUnanswered('zzz qqq xxx'), true);
  });

  it('reports short questions about the question before as unanswered', async () => {
    assert.ok((await ask('Who repairs blorbs?', 'How long?')).types.includes('unanswered'));
  });

  it('does not report prompts without a topic as unanswered, with and without documents', async () => {
    const assertNone = async () => {
      for (const prompt of ['Tell me more', ' ', '?'])
        assert.ok(!(await ask(prompt)).types.includes('unanswered'), prompt);
    };
    await assertNone();
    await withLibrary([], assertNone);
  });

  it('answers a greeting without searching', async () => {
    const { types, text } = await ask('Hello!');
    assert.deepEqual(types, ['text']);
    assert.match(text, /^Hello!/);
  });

  it('lists its subjects, with example questions that it answers', async () => {
    for (const prompt of ['Who are you?', 'What can you help me with?', 'help']) {
      const { text } = await ask(prompt);
      assert.match(text, /“Refund policy”.*For example, ask:\n\n- /s);
      const examples = [...text.matchAll(/^- (.+)$/gm)].map(([, example]) => example!);
      assert.ok(examples.length > 0 && examples.length <= 3);
      for (const example of examples) assert.match((await ask(example)).text, /^(?!I did not find).*\[1\]/s);
    }
  });

  it('answers the same question in the same way', async () => {
    const question = 'How long do I have to get unused goods refunded?';
    assert.deepEqual(await ask(question), await ask(question));
  });

  it('finds the question at the end of a long prompt', async () => {
    const { text } = await ask(`${'Lorem ipsum dolor sit amet. '.repeat(3_500)}\nWhen does the shop open?`);
    assert.match(text, /9:30/);
  });

  it('accepts any prompt', async () => {
    for (const prompt of [
      'how '.repeat(25_000),
      '?'.repeat(100_000),
      '[1] '.repeat(25_000),
      'a'.repeat(100_000),
      ' \n'.repeat(50_000),
      '\ud800',
      '-'.repeat(100_000),
      'and what '.repeat(11_000),
      '(to [a-z',
    ]) {
      assert.match((await ask(prompt)).text, /./);
    }
  });

  it('stops when it is aborted', async () => {
    const prompt = { role: 'user', content: 'When does the shop open?' } as const;
    await assert.rejects(reply([prompt], AbortSignal.abort(new Error('stopped'))), /stopped/);
  });
});
