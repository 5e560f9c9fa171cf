import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DocumentId } from '../../../domain/id.ts';
import { compose } from './composition.ts';
import { unitsOf } from './units.ts';

function composed(text: string, told: readonly number[]): string {
  const passage = { documentId: 'doc_a' as DocumentId, title: 'A', url: null, heading: '', text };
  return compose({ passage, units: unitsOf(text), told }, 1).join('');
}

const hours = 'We open at nine. On days:\n\n- Monday: closed\n- Tuesday: 9:00 to 17:00\n\nWe like guests.';

describe('a composed answer', () => {
  it('writes a line of a list that stands alone as a sentence', () => {
    assert.equal(composed(hours, [2]), 'Monday: closed [1].');
    assert.equal(composed(hours, [3, 0]), 'Tuesday: 9:00 to 17:00 [1]. We open at nine [1].');
  });

  it('keeps lines of a list together, and what introduces them before them', () => {
    assert.equal(composed(hours, [2, 3]), '- Monday: closed [1]\n- Tuesday: 9:00 to 17:00 [1]');
    assert.equal(composed(hours, [1, 3]), 'On days:\n\n- Tuesday: 9:00 to 17:00 [1]');
  });

  it('tells in the order that was chosen', () => {
    assert.equal(composed(hours, [4, 0]), 'We like guests [1]. We open at nine [1].');
  });
});
