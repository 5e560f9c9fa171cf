import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { extractiveModel } from '../../answers/src/models/extractive.ts';
import type { OrganizationId } from '../../server/src/domain/id.ts';
import { openSqliteStore } from '../../server/src/storage/sqlite/open.ts';
import { readQuestions } from './answer-questions.ts';
import { classifyReply, holdsAnswer, type JudgedReply, printReplies, type Reply } from './answer-table.ts';
import { createAnswerOrganization } from './answers.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import { say } from './table.ts';

// Measures the same figures as `npm run bench -- --only answers`, but calls the model in this process instead of a
// service.
const { values } = parseArgs({
  options: { half: { type: 'string' }, kind: { type: 'string' }, failures: { type: 'boolean' } },
});
const questions = readQuestions().filter(
  ({ half, kind }) => half === (values.half ?? half) && kind === (values.kind ?? kind),
);
if (questions.length === 0) throw new Error('No question has that half and kind.');

const folder = temporaryFolder();
const org = await createAnswerOrganization(folder);
const store = openSqliteStore(join(folder, 'data/skein.db'));
const model = extractiveModel(store);
const judged: JudgedReply[] = [];
const before = process.cpuUsage();
for (const question of questions) judged.push({ question, reply: await ask(question.question) });
const { user, system } = process.cpuUsage(before);
await store.close();
removeFolder(folder);
if (values.failures) printFailures();
printReplies(judged, (user + system) / 1000 / judged.length);

async function ask(question: string): Promise<Reply> {
  const conversation = [{ role: 'user', content: question } as const];
  const signal = AbortSignal.timeout(60_000);
  const organizationId = org as OrganizationId;
  let content = '';
  let sources = 0;
  const request = { organizationId, accountId: null, conversation, attempt: 1, signal };
  for await (const event of model.reply(request)) {
    if (event.type === 'text') content += event.text;
    if (event.type === 'revision') content = event.text;
    if (event.type === 'sources') sources = event.sources.length;
  }
  return { content, sources };
}

function printFailures(): void {
  for (const one of judged) {
    const { kind, question, answers, document } = one.question;
    const level = classifyReply(one.reply);
    if (kind === 'unanswerable' ? level !== 'answer' : level === 'answer' && holdsAnswer(one)) continue;
    const wanted = answers.map((parts) => parts.join(' and ')).join(' or ');
    say(`${kind}: ${question}\n  wanted: ${wanted || 'no answer'}${document ? ` (${document})` : ''}`);
    console.log(`  ${level}: ${one.reply.content.replaceAll('\n', '\n  ')}`);
  }
}
