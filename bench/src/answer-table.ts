import { type AskedQuestion, type Half, halves, type Kind, kinds, plain } from './answer-questions.ts';
import { printTable, say } from './table.ts';

export interface Reply {
  readonly content: string;
  /** The number of documents that the reply cites. */
  readonly sources: number;
}

export interface JudgedReply {
  readonly question: AskedQuestion;
  readonly reply: Reply;
}

type Level = 'answer' | 'closest' | 'declined';

/** How confident the reply appears to a reader, judged by its fixed first sentence and by whether it cites anything. */
export function classifyReply({ content, sources }: Reply): Level {
  if (plain(content).startsWith('i did not find a direct answer.')) return 'closest';
  return sources === 0 ? 'declined' : 'answer';
}

/** Whether the reply contains the expected answer, at any confidence level. */
export function holdsAnswer({ question, reply }: JudgedReply): boolean {
  const content = plain(reply.content);
  return question.answers.some((parts) => parts.every((part) => content.includes(plain(part))));
}

/** A reply that claims to answer the question but does not, including questions that no document answers. */
function isConfidentlyWrong(judged: JudgedReply): boolean {
  return classifyReply(judged.reply) === 'answer' && !holdsAnswer(judged);
}

/** Prints the results for each kind of question in each half. */
export function printReplies(judged: readonly JudgedReply[], cpuMsPerReply: number): void {
  for (const half of halves) printHalf(half, judged);
  const words = judged.map(({ reply }) => wordCount(reply.content));
  const mean = words.reduce((sum, count) => sum + count, 0) / words.length;
  say(
    `${judged.length} replies: ${mean.toFixed(0)} words on average, ${Math.max(...words)} at most, ` +
      `${words.filter((count) => count > 120).length} above 120; ${cpuMsPerReply.toFixed(1)} ms of CPU per reply.`,
  );
}

function printHalf(half: Half, judged: readonly JudgedReply[]): void {
  const asked = judged.filter(({ question }) => question.half === half);
  if (asked.length === 0) return;
  const ofKind = (kind: Kind) => asked.filter(({ question }) => question.kind === kind);
  const answerable = kinds.filter((kind) => kind !== 'unanswerable');
  const groups: [string, JudgedReply[]][] = [
    ...answerable.map((kind): [string, JudgedReply[]] => [kind, ofKind(kind)]),
    ['all answerable', answerable.flatMap(ofKind)],
    ['unanswerable', ofKind('unanswerable')],
  ];
  const headings = [
    half,
    'questions',
    'right',
    'confidently wrong',
    'closest, has it',
    'closest, without',
    'declined',
  ];
  printTable(
    `Answers over published documents, ${half}`,
    headings,
    groups.map(([name, group]) => [name, ...formatFigures(group)]),
  );
}

function formatFigures(group: readonly JudgedReply[]): string[] {
  const count = (holds: (one: JudgedReply) => boolean) => group.filter(holds).length;
  const at = (level: Level) => (one: JudgedReply) => classifyReply(one.reply) === level;
  const counts = [
    count((one) => at('answer')(one) && holdsAnswer(one)),
    count(isConfidentlyWrong),
    count((one) => at('closest')(one) && holdsAnswer(one)),
    count((one) => at('closest')(one) && !holdsAnswer(one)),
    count(at('declined')),
  ];
  return [String(group.length), ...counts.map((value) => share(value, group.length))];
}

function share(count: number, all: number): string {
  return all === 0 ? '-' : `${((100 * count) / all).toFixed(0)} %`;
}

function wordCount(content: string): number {
  return plain(content)
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
