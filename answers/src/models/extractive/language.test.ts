import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detectLanguage } from './language.ts';

describe('the language of a text', () => {
  for (const [text, language] of [
    ['How do I wash wool?', 'English'],
    ['Wie kann ich Wolle waschen?', 'German'],
    ['Comment puis-je laver la laine ?', 'French'],
    ['¿Cómo puedo lavar una prenda?', 'Spanish'],
    ['Como posso lavar uma peça?', 'Portuguese'],
    ['Hoe kan ik wol wassen?', 'Dutch'],
    ['Hoeveel kost verzending naar Duitsland?', 'Dutch'],
    ['Quels sont vos horaires ?', 'French'],
    ['Wo ist der Laden?', 'German'],
    ['Dove si trova il negozio?', 'Italian'],
    ['Ile kosztuje wysyłka?', 'Polish'],
    ['Vad kostar frakten?', 'Swedish'],
    ['Hvad koster fragten?', 'Danish'],
    ['shipping cost to Germany', 'English'],
    ['Is there a die in the set?', 'English'],
    ['羊毛をどうやって洗いますか', 'Japanese'],
    ['怎么洗羊毛', 'Chinese'],
    ['Как стирать шерсть?', 'Russian or another language in Cyrillic'],
    ['The word 中文 is one of the two in the title', 'English'],
  ] as const) {
    it(`of “${text}” is ${language}`, () => assert.equal(detectLanguage(text), language));
  }

  it('is unknown if nothing identifies it', () => {
    for (const text of ['', 'xyzzy', '42', 'wool']) assert.equal(detectLanguage(text), undefined);
  });
});
