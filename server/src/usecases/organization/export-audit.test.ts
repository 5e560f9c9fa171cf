import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvLine } from './export-audit.ts';

test('cells are quoted, also with quotes, commas and line breaks in them', () => {
  assert.equal(csvLine(['a', 'say "hi", please', 'two\nlines']), '"a","say ""hi"", please","two\nlines"\r\n');
});

test('a cell that a spreadsheet would run as a formula starts with an apostrophe', () => {
  for (const start of ['=', '+', '-', '@', '\t', '\r', '\n'])
    assert.equal(csvLine([`${start}cmd`]), `"'${start}cmd"\r\n`);
  assert.equal(csvLine(['a=b']), '"a=b"\r\n');
});
