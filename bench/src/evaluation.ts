import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { askQuestions, type Reply } from './evaluation-replies.ts';
import { removeFolder, root, temporaryFolder } from './processes.ts';
import { skein, startService } from './service.ts';
import { printTable, say } from './table.ts';

const evaluation = join(root, 'bench/evaluation');
const sets = { demo: join(root, 'server/demo'), library: join(evaluation, 'library') };
type SetName = keyof typeof sets;

/** `document`, `passage` and `answer` are null where the documents hold no answer. */
interface Question {
  readonly set: SetName;
  readonly question: string;
  readonly document: string | null;
  readonly passage: string | null;
  readonly answer: string | null;
  readonly split: 'tune' | 'held-out';
}

interface Judged extends Question {
  /** Place of the right passage among those found, from 1; 0 where it is not. */
  readonly place: number;
  readonly reply: Reply;
}

const passagesLookedAt = 10;
const searchesAtOnce = 2;

/** How well passages are found and questions answered, asked from outside as a person would. */
export async function evaluateAnswers(): Promise<void> {
  const questions: Question[] = JSON.parse(readFileSync(join(evaluation, 'questions.json'), 'utf8'));
  const folder = temporaryFolder();
  const service = await startService(folder, { SKEIN_MODEL: 'extractive' });
  const judged: Judged[] = [];
  for (const set of Object.keys(sets) as SetName[]) {
    const asked = questions.filter((question) => question.set === set);
    judged.push(...(await judgeSet(folder, service.baseUrl, set, asked)));
  }
  await service.stop();
  removeFolder(folder);
  say(`${questions.length} questions of bench/evaluation, answered by the model that needs no network.`);
  printSearches(judged);
  printReplies(judged);
}

async function judgeSet(
  folder: string,
  baseUrl: string,
  set: SetName,
  questions: readonly Question[],
): Promise<Judged[]> {
  const { id: org } = await skein(folder, 'org', 'create', `Evaluation of ${set}`, '--quota', '1000000');
  const files = readdirSync(sets[set]).map((name) => join(sets[set], name));
  const { documents } = await skein(folder, 'doc', 'add', org, ...files);
  const names = new Map<string, string>(documents.map((one: any) => [one.id, basename(one.name)]));
  const email = 'ada@bench.example';
  await skein(folder, 'member', 'add', org, email);
  const { key } = await skein(folder, 'key', 'create', org, '--user', email);
  const places = await inTurns(questions, (question) => placeOf(folder, org, names, question));
  const replies = await askQuestions(baseUrl, key, questions, names);
  return questions.map((question, at) => ({ ...question, place: places[at]!, reply: replies[at]! }));
}

async function placeOf(
  folder: string,
  org: string,
  names: ReadonlyMap<string, string>,
  { question, document, passage }: Question,
): Promise<number> {
  if (passage === null) return 0;
  const limit = String(passagesLookedAt);
  const { passages } = await skein(folder, 'doc', 'search', org, question, '--limit', limit);
  const at = passages.findIndex(
    (found: any) => names.get(found.documentId) === document && plain(found.text).includes(plain(passage)),
  );
  return at + 1;
}

/** A few at a time: each search is a process. */
async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += searchesAtOnce) {
    results.push(...(await Promise.all(items.slice(from, from + searchesAtOnce).map(run))));
  }
  return results;
}

/** Layout, marks and case apart. */
function plain(text: string): string {
  return text
    .replace(/ ?\[\d+\]/g, '')
    .replace(/[*_`]/g, '')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}

function groups(judged: readonly Judged[]): (readonly [string, readonly Judged[]])[] {
  const splits = ['tune', 'held-out'] as const;
  return (Object.keys(sets) as SetName[]).flatMap((set) =>
    splits.map((split) => {
      const group = judged.filter((one) => one.set === set && one.split === split);
      return [`${set}, ${split}`, group] as const;
    }),
  );
}

function share(group: readonly Judged[], holds: (one: Judged) => boolean): string {
  return group.length === 0 ? '-' : (group.filter(holds).length / group.length).toFixed(2);
}

function printSearches(judged: readonly Judged[]): void {
  const rows = groups(judged).map(([name, group]) => {
    const asked = group.filter(({ passage }) => passage !== null);
    const reciprocal = asked.reduce((sum, { place }) => sum + (place === 0 ? 0 : 1 / place), 0);
    return [
      name,
      String(asked.length),
      share(asked, ({ place }) => place === 1),
      share(asked, ({ place }) => place >= 1 && place <= 3),
      (reciprocal / asked.length).toFixed(2),
    ];
  });
  printTable('The right passage among those found', ['set', 'questions', 'first', 'in three', 'MRR'], rows);
}

function printReplies(judged: readonly Judged[]): void {
  const rows = groups(judged).map(([name, group]) => {
    const asked = group.filter(({ answer }) => answer !== null);
    const unanswerable = group.filter(({ answer }) => answer === null);
    const declined = unanswerable.filter(({ reply }) => reply.cited.length === 0).length;
    return [
      name,
      String(asked.length),
      share(asked, ({ reply, answer }) => plain(reply.content).includes(plain(answer!))),
      share(asked, ({ reply, document }) => reply.cited.includes(document!)),
      share(asked, ({ reply }) => reply.cited.length === 0),
      `${declined} of ${unanswerable.length}`,
    ];
  });
  const headings = [
    'set',
    'questions',
    'has the answer',
    'cites its document',
    'declined',
    'rightly declined',
  ];
  printTable('Replies', headings, rows);
}
