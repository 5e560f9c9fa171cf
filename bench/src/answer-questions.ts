import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './processes.ts';

/** The model was tuned while looking at `tune` and `validation`. `held-out` was counted only once, at the end. */
export const halves = ['tune', 'validation', 'held-out'] as const;
export type Half = (typeof halves)[number];

export const kinds = [
  'number',
  'plain',
  'paraphrase',
  'typo',
  'yes/no',
  'how-to',
  'faq',
  'option',
  'two-part',
  'unanswerable',
] as const;
export type Kind = (typeof kinds)[number];

export interface AskedQuestion {
  readonly half: Half;
  readonly kind: Kind;
  readonly question: string;
  /** In the form `package/path`. Undefined if no document has the answer. */
  readonly document: string | undefined;
  /** A correct reply contains all strings of at least one of these lists. Empty if no document has the answer. */
  readonly answers: readonly (readonly string[])[];
}

/** Reads the questions. bench/evaluation/README.md describes the file's format. */
export function readQuestions(): AskedQuestion[] {
  const text = readFileSync(join(root, 'bench/evaluation/package-questions.txt'), 'utf8');
  const questions: AskedQuestion[] = [];
  let document: string | undefined;
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('[')) {
      document = line.slice(1, -1) || undefined;
      continue;
    }
    const [half, kind, question, ...answers] = line.split(' | ');
    questions.push({
      half: half as Half,
      kind: kind as Kind,
      question: question!,
      document,
      answers: answers.map((answer) => answer.split(' && ')),
    });
  }
  return questions;
}

/** Compares words only: layout, marks, citations and letter case do not count. */
export function plain(text: string): string {
  return text
    .replace(/ ?\[\d+\]/g, '')
    .replace(/[*_`\\]/g, '')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, ' ')
    .toLowerCase();
}

/**
 * Throws unless the first answer to every question is in its document and every other answer is in some document.
 * `stored` holds the text that the service reads from each document.
 */
export function checkQuestions(
  questions: readonly AskedQuestion[],
  stored: ReadonlyMap<string, string>,
): void {
  const texts = new Map([...stored].map(([document, text]) => [document, plain(text)]));
  const faults = questions.flatMap((one) =>
    findFaults(one, texts).map((fault) => `${one.question} ${fault}`),
  );
  const asked = new Set(questions.map(({ question }) => question));
  if (asked.size < questions.length) faults.push('A question is asked twice.');
  if (faults.length > 0) throw new Error(`The questions do not fit the documents:\n${faults.join('\n')}`);
}

function findFaults(
  { half, kind, document, answers }: AskedQuestion,
  texts: ReadonlyMap<string, string>,
): string[] {
  const faults: string[] = [];
  if (!halves.includes(half)) faults.push(`has the half ${half}`);
  if (!kinds.includes(kind)) faults.push(`has the kind ${kind}`);
  if (kind === 'unanswerable') {
    if (document !== undefined || answers.length > 0) faults.push('is unanswerable and has an answer');
    return faults;
  }
  const text = texts.get(document ?? '');
  if (text === undefined) return [...faults, `is about ${document}, which is not among the documents`];
  if (answers.length === 0) faults.push('has no answer');
  for (const [at, parts] of answers.entries()) {
    const searched = at === 0 ? [text] : [...texts.values()];
    const missing = parts.filter((part) => !searched.some((one) => one.includes(plain(part))));
    faults.push(...missing.map((part) => `has the answer “${part}”, which is not in ${document}`));
  }
  return faults;
}
