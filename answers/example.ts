import { extractPassageTerms, openModelThreads, type PassageStore, type ReplyEvent } from './src/index.ts';

// A document of two passages, as `documentReader` would read it from a file.
const document = { documentId: 'doc_1', name: 'returns.md', title: 'Returns', url: null };
const passages = [
  { heading: '', text: 'You have 30 days to return yarn.' },
  { heading: 'Refunds', text: 'We refund by card.' },
].map((text) => ({ ...document, ...text, terms: extractPassageTerms(document.name, document.title, text) }));

// A store in memory, for one organization. The number of a passage is its position.
const matches = (terms: readonly string[], query: string) =>
  query.split('|').some((all) => all.split(' ').every((term) => terms.includes(term)));
const find = (query: string) => [...passages.keys()].filter((at) => matches(passages[at]!.terms, query));
const store: PassageStore = {
  findPassages: async (_organizationId, _accountId, queries, limit) => ({
    passageCount: passages.length,
    holders: queries.map((query) => find(query).slice(0, limit)),
  }),
  readPassages: async (_organizationId, _accountId, numbers) => numbers.flatMap((at) => passages[at] ?? []),
  outlineDocuments: async () => [{ title: document.title, opening: passages[0]!.text, questions: [] }],
};

// Answer a question. The threads do not keep the process running, but the timer does.
const threads = await openModelThreads({ store, threads: 1 });
const deadline = new AbortController();
const timer = setTimeout(() => deadline.abort(), 30_000);
const request = { organizationId: 'acme', accountId: null, attempt: 1, signal: deadline.signal };
const question = 'How long do I have to return yarn?';
await print(threads.reply({ ...request, conversation: [{ role: 'user', content: question }] }));

// Check a draft that was written elsewhere.
const found = await threads.search('acme', null, question, 5, deadline.signal);
const draft = 'You have 30 days to return yarn. Return shipping is free.';
await print(threads.corroborate(draft, found.passages, deadline.signal, 'acme'));
clearTimeout(timer);
await threads.close();

async function print(events: AsyncIterable<ReplyEvent>) {
  for await (const event of events) {
    if ('text' in event) console.log(event.text);
    if ('sources' in event)
      for (const { title, snippet } of event.sources) console.log(`${title}: ${snippet}`);
    if ('verdict' in event) console.log(`${event.verdict.found} of ${event.verdict.statements} found`);
  }
}
