import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readEvidence, readSentence } from './sentence.ts';
import { findSupports } from './support.ts';

function isSupported(statement: string, text: string, heading = ''): boolean {
  const passage = {
    documentId: 'doc_1',
    name: 'handbook.md',
    title: 'Handbook',
    url: null,
    heading,
    text,
  };
  return findSupports(readSentence(statement), [readEvidence(passage)]).length > 0;
}

describe('a passage supports a statement', () => {
  const holds = (name: string, text: string, ...statements: string[]) =>
    it(name, () => {
      for (const statement of statements) assert.ok(isSupported(statement, text), statement);
    });

  holds(
    'that it contains word for word',
    'Ann pays €5 in Rome, and Bob pays €6 in Paris, but nobody pays in Oslo.',
    'Ann pays €5 in Rome, and Bob pays €6 in Paris, but nobody pays in Oslo.',
  );
  holds(
    'that contains it word for word below its opposite',
    'The fee is refundable. The fee is not refundable. It is 5 kg. It weighs 1,5 kg. It weighs 1.5 kg in total.',
    'The fee is refundable.',
    'The fee is not refundable.',
    'It is 5 kg.',
    'It weighs 1.5 kg.',
  );
  holds(
    'that paraphrases it',
    'Customers may return unused goods within 30 days of purchase.',
    'Unused goods can be returned by customers within thirty days.',
    'Clients can send back unused goods within 30 days.',
  );
  holds(
    'that repeats only a part of it',
    'The laptop is replaced every four years, unless the manager asks for more.',
    'The laptop is replaced every 4 years.',
  );
  holds(
    'that writes its numbers differently',
    'The first response comes within 30 minutes. A seat costs $1,200.00 a year.',
    'The first response comes within half an hour.',
    'A seat costs 1200 dollars a year.',
  );
  holds(
    'that combines two of its sentences',
    'Branches live for five days. After that they are deleted by the nightly job.',
    'Branches live for five days and are deleted by the nightly job.',
  );
  holds(
    'that affirms for one thing what it denies for another, as two of its sentences do',
    'Shipping is free. Returns are not free.',
    'Shipping is free, but returns are not free.',
  );
  holds(
    'that negates the same thing',
    'Gift cards cannot be exchanged for cash.',
    'Gift cards are not exchanged for cash.',
    "Gift cards can't be exchanged for cash.",
  );
  for (const [said, claimed] of [
    ['The bank rejects late loan applications.', 'The bank declines late loan applications.'],
    ['The service charge is refunded annually.', 'The service charge is refunded yearly.'],
    ['The plan decreased the energy costs of the plant.', 'The plan reduced the energy costs of the plant.'],
    ['An oral agreement with the landlord is enough.', 'A verbal agreement with the landlord is enough.'],
    ['Smoking in the building is prohibited.', 'Smoking in the building is banned.'],
    ['Smoking in the building is not allowed.', 'Smoking in the building is forbidden.'],
    ['Smoking in the building is not allowed.', 'Smoking in the building is not permitted.'],
    ['Smoking in the building is prohibited.', 'Smoking in the building is not permitted.'],
  ] as const) {
    holds(`that says “${claimed}” for “${said}”`, said, claimed);
  }

  it('whose subject is named in its heading', () => {
    assert.ok(
      isSupported(
        'The trial lasts 14 days and needs no card.',
        'It lasts 14 days and needs no card.',
        'The trial',
      ),
    );
  });
});

describe('a passage does not support a statement', () => {
  const fails = (name: string, text: string, ...statements: string[]) =>
    it(name, () => {
      for (const statement of statements) assert.ok(!isSupported(statement, text), statement);
    });

  fails(
    'with another number, unit or currency',
    'Unused goods are refunded within 30 days. A seat costs €12 a month. The shop sold 5 million skeins last year.',
    'Unused goods are refunded within 60 days.',
    'Unused goods are refunded within 30 weeks.',
    'A seat costs $12 a month.',
    'The shop sold 5 billion skeins last year.',
    'The shop sold 5 skeins last year.',
  );
  fails(
    'that negates what it affirms, or affirms what it negates',
    'Wound yarn cannot be returned. Books are refunded in cash.',
    'Wound yarn can be returned.',
    'Books are not refunded in cash.',
  );
  fails(
    'that replaces one word by its opposite',
    'Prices include value added tax. The gate is open on Sunday.',
    'Prices exclude value added tax.',
    'The gate is open on Monday.',
  );
  for (const [said, claimed] of [
    [
      'Employees are forbidden to bring dogs to the office.',
      'Employees are allowed to bring dogs to the office.',
    ],
    [
      'Employees are allowed to bring dogs to the office.',
      'Employees are forbidden to bring dogs to the office.',
    ],
    ['Visitors are banned from parking in the yard overnight.', 'Visitors may park in the yard overnight.'],
    [
      'Visitors may park in the yard overnight.',
      'Visitors are prohibited from parking in the yard overnight.',
    ],
    ['Smoking on the roof is permitted.', 'Smoking on the roof is banned.'],
    ['Smoking on the roof is not permitted.', 'Smoking on the roof is allowed.'],
    ['The bank declines late loan applications.', 'The bank accepts late loan applications.'],
    ['The bank declines late loan applications.', 'The bank does not reject late loan applications.'],
    ['The service charge is refunded annually.', 'The service charge is refunded monthly.'],
  ] as const) {
    fails(`that says “${claimed}” against “${said}”`, said, claimed);
  }
  fails(
    'about another person or place',
    'The service desk in Utrecht is led by Ruben Talavera.',
    'The service desk in Utrecht is led by Maria Talavera.',
    'The service desk in Leeds is led by Ruben Talavera.',
  );
  fails(
    'with a number that belongs to another item of the sentence',
    'The probation is two months in Norway, six months in Spain and 90 days in Portugal.',
    'The probation is six months in Portugal.',
  );
  fails(
    'with a detail that it does not contain',
    'The office opens at eight.',
    'The office opens at eight and serves free breakfast with pancakes.',
  );
  fails('about another subject', 'The office opens at eight.', 'Whales sing at night in the northern sea.');

  it('if another sentence matches more closely and contradicts it', () => {
    const text = 'A skein of fingering yarn holds 400 metres. A skein of worsted yarn holds 200 metres.';
    assert.ok(isSupported('A skein of worsted yarn holds 200 metres.', text));
    assert.ok(!isSupported('A skein of worsted yarn holds 400 metres.', text));
  });
});
