import { join } from 'node:path';
import {
  type Candidate,
  candidatesFor,
  chooseShown,
  passagesMax,
} from '../../answers/src/models/extractive/answer.ts';
import { findQuestions } from '../../answers/src/models/extractive/asking.ts';
import { render } from '../../answers/src/models/extractive/quote.ts';
import { featureNames } from '../../answers/src/models/extractive/score.ts';
import { searchPassages } from '../../answers/src/retrieval/search.ts';
import type { OrganizationId } from '../../server/src/domain/id.ts';
import { openSqliteStore } from '../../server/src/storage/sqlite/open.ts';
import { type AskedQuestion, plain, readQuestions } from './answer-questions.ts';
import { createAnswerOrganization } from './answers.ts';
import { removeFolder, temporaryFolder } from './processes.ts';
import { say } from './table.ts';

// Fits the weights in `answers/src/models/extractive/score.ts` on the questions marked `tune` and `validation`. Six-fold
// cross-validation, which leaves out whole documents, estimates how well they do on other documents.

interface Sample {
  readonly isOnly: boolean;
  readonly fold: number;
  readonly isAnswerable: boolean;
  readonly features: readonly (readonly number[])[];
  readonly candidates: readonly Candidate[];
  /** Per candidate, whether its quote contains the answer. */
  readonly isRight: readonly boolean[];
}

const foldCount = 6;
const wordsMax = 84;
const passes = 400;
const questions = readQuestions().filter(({ half }) => half !== 'held-out');
const documents = [...new Set(questions.map(({ document }) => document))];

const folder = temporaryFolder();
const organizationId = (await createAnswerOrganization(folder)) as OrganizationId;
const store = openSqliteStore(join(folder, 'data/skein.db'));
const samples: Sample[] = [];
for (const [at, question] of questions.entries()) samples.push(...(await collectSamples(question, at)));
await store.close();
removeFolder(folder);

const weights = fitRanking(samples);
say(`Weights of the candidates: ${JSON.stringify(named(featureNames, weights))}`);
const inputNames = ['best', 'share', 'coverage', 'bias'];
say(`Weights of the confidence: ${JSON.stringify(named(inputNames, fitConfidence(samples, weights)))}`);
printCrossValidation();

async function collectSamples(asked: AskedQuestion, at: number): Promise<Sample[]> {
  const parts = findQuestions([{ role: 'user', content: asked.question }]);
  const isAnswerable = asked.kind !== 'unanswerable';
  const fold = (isAnswerable ? documents.indexOf(asked.document) : at) % foldCount;
  const found: Sample[] = [];
  for (const part of parts) {
    const { text, context } = part;
    const findings = await searchPassages(store, organizationId, null, text, passagesMax, context);
    const candidates = candidatesFor(part, findings, wordsMax);
    if (candidates.length === 0) continue;
    const isRight = candidates.map(({ quote }) => {
      const text = plain(render(quote, 1));
      const holds = (expected: string) => text.includes(plain(expected));
      return asked.answers.some((all) => (parts.length > 1 ? all.some(holds) : all.every(holds)));
    });
    const features = candidates.map((one) => featureNames.map((name) => one.features[name]));
    const isOnly = parts.length === 1;
    found.push({ isOnly, fold, isAnswerable, features, candidates, isRight });
  }
  return found;
}

/** Fits a softmax over the candidates of each question by gradient descent. */
function fitRanking(all: readonly Sample[]): number[] {
  const useful = all.filter(({ isRight }) => isRight.includes(true) && isRight.includes(false));
  const fitted = featureNames.map(() => 0);
  const [mean, square] = [featureNames.map(() => 0), featureNames.map(() => 0)];
  for (let pass = 1; pass <= passes; pass++) {
    const gradient = fitted.map((weight) => 0.3 * weight);
    for (const { features, isRight } of useful) {
      const shares = computeShares(features, fitted);
      const right = shares.reduce((sum, one, at) => sum + (isRight[at] ? one : 0), 0);
      for (const [at, row] of features.entries()) {
        const error = shares[at]! * (isRight[at] ? 1 - 1 / right : 1);
        for (const [feature, value] of row.entries()) gradient[feature]! += error * value;
      }
    }
    for (const [feature, slope] of gradient.entries()) {
      mean[feature] = 0.9 * mean[feature]! + 0.1 * slope;
      square[feature] = 0.999 * square[feature]! + 0.001 * slope * slope;
      const step = mean[feature]! / (1 - 0.9 ** pass);
      fitted[feature]! -= (0.05 * step) / (Math.sqrt(square[feature]! / (1 - 0.999 ** pass)) + 1e-8);
    }
  }
  return fitted;
}

function computeShares(features: Sample['features'], fitted: readonly number[]): number[] {
  const scores = features.map((row) => dot(row, fitted));
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/** What the model would show: the inputs of its confidence, and whether the quotes contain the answer. */
function shown({ isOnly, candidates, features, isRight }: Sample, fitted: readonly number[]) {
  const shares = computeShares(features, fitted);
  const ordered = candidates
    .map((one, at) => ({ ...one, share: shares[at]!, isRight: isRight[at]! }))
    .sort((a, b) => b.share - a.share);
  const chosen = isOnly ? chooseShown(ordered) : ordered.slice(0, 1);
  const share = chosen.reduce((sum, one) => sum + one.share, 0);
  const inputs = [ordered[0]!.share, share, ordered[0]!.features.quote, 1];
  return { inputs, isRight: ordered.some((one) => one.isRight && chosen.includes(one)) };
}

/** Fits a logistic regression by gradient descent. */
function fitConfidence(all: readonly Sample[], fitted: readonly number[]): number[] {
  const rows = all.map((sample) => shown(sample, fitted));
  const factors = [0, 0, 0, 0];
  for (let pass = 0; pass < 20_000; pass++) {
    const gradient = [0, 0, 0, 0];
    for (const { inputs, isRight } of rows) {
      const error = 1 / (1 + Math.exp(-dot(inputs, factors))) - Number(isRight);
      for (const [at, value] of inputs.entries()) gradient[at]! += (error * value) / rows.length;
    }
    for (const [at, slope] of gradient.entries()) factors[at]! -= 2 * slope;
  }
  return factors;
}

function printCrossValidation(): void {
  const judged = Array.from({ length: foldCount }, (_, fold) => fold).flatMap((fold) => {
    const known = samples.filter((sample) => sample.fold !== fold);
    const fitted = fitRanking(known);
    const factors = fitConfidence(known, fitted);
    return samples
      .filter((sample) => sample.fold === fold)
      .map((sample) => {
        const { inputs, isRight } = shown(sample, fitted);
        return { isAnswerable: sample.isAnswerable, isRight, confidence: dot(inputs, factors) };
      });
  });
  const answerable = judged.filter((one) => one.isAnswerable);
  const others = judged.filter((one) => !one.isAnswerable);
  for (let threshold = -0.5; threshold <= 1.5; threshold += 0.125) {
    const sure = answerable.filter(({ confidence }) => confidence >= threshold);
    const right = sure.filter(({ isRight }) => isRight).length;
    const declined = others.filter(({ confidence }) => confidence < threshold).length;
    say(
      `${threshold.toFixed(3)}: right ${percent(right, answerable.length)}, ` +
        `wrong ${percent(sure.length - right, answerable.length)}, declined ${percent(declined, others.length)}`,
    );
  }
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0);
}

function named(names: readonly string[], values: readonly number[]): Record<string, number> {
  return Object.fromEntries(names.map((name, at) => [name, Number(values[at]!.toFixed(2))]));
}

function percent(count: number, all: number): string {
  return `${((100 * count) / all).toFixed(1)} %`;
}
