import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AnswerKind,
  answerKindOf,
  asksWhereIs,
  definitionOf,
  givesAnswerOf,
  locationOf,
} from './answer-kind.ts';

const cases: readonly (readonly [AnswerKind, string, string, string])[] = [
  ['duration', 'How long is the warranty?', 'It lasts two years.', 'It is generous.'],
  ['duration', 'How many working days do I have?', 'You have 10 working days.', 'You have some.'],
  ['time', 'When does the shop open?', 'It opens at 9:30.', 'It opens.'],
  ['money', 'How much does a seat cost?', 'A seat costs €12.', 'A seat costs money.'],
  ['money', 'Does the circle cost anything?', 'Taking part is free.', 'It meets on Thursday.'],
  ['number', 'How many guests may I bring?', 'Bring up to 3 guests.', 'Bring guests.'],
  ['person', 'Who approves a refund?', 'The finance manager approves it.', 'It is approved.'],
  ['place', 'Where is the first-aid kit?', 'It hangs in room 4.', 'It hangs well.'],
  ['place', 'Where is the shop?', 'It stands in Fernbridge.', 'It opens on Tuesday in May.'],
  ['reason', 'Why is the build slow?', 'Because it downloads everything.', 'It is slow.'],
  ['steps', 'How do I roll back?', 'To roll back, wait.', 'Rolling back is quick.'],
  ['list', 'Which crafts are taught?', 'Knitting, crochet and dyeing.', 'Many crafts.'],
  ['steps', 'How do I reset my password?', 'Open the page and choose Reset.', 'Passwords are secret.'],
];

describe('what a question asks for', () => {
  for (const [kind, question, answer, other] of cases) {
    it(`is a ${kind} in “${question}”`, () => {
      assert.equal(answerKindOf(question), kind);
      assert.ok(givesAnswerOf(kind, answer), answer);
      assert.ok(!givesAnswerOf(kind, other), other);
    });
  }

  it('is a definition where it asks what something is', () => {
    for (const question of [
      'What is a skein?',
      'what are service credits',
      'What does RPO stand for?',
      'A hank?',
    ]) {
      assert.equal(answerKindOf(question), 'definition', question);
    }
    const skein = definitionOf(['skein']);
    for (const text of [
      'A skein is a coil.',
      'Yarn is sold so. Skeins are coils.',
      'Skein: a coil.',
      '- Skein (noun) means coil.',
    ]) {
      assert.match(text, skein);
    }
    for (const text of ['A pull skein is a coil.', 'The skein winder is old.', 'Buy a skein.']) {
      assert.doesNotMatch(text, skein);
    }
  });

  it('is a location where it asks where something is', () => {
    assert.ok(asksWhereIs('Where is the first-aid kit?'));
    assert.ok(!asksWhereIs('Where is the first-aid kit kept at night?'));
    const kit = locationOf(['kit']);
    for (const text of ['The kit hangs in room 4.', 'Both kits are kept behind the desk.'])
      assert.match(text, kit);
    for (const text of ['The kit is red.', 'The desk is in the hall.']) assert.doesNotMatch(text, kit);
  });

  it('is open where the words do not tell', () => {
    assert.equal(answerKindOf('Tell me about refunds'), undefined);
  });
});
