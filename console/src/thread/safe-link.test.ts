import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeLink, webLink } from './safe-link.ts';

test('a link in text may open web and email addresses', () => {
  for (const url of ['https://skein.example/a?b#c', 'http://localhost:1/', 'mailto:ada@skein.example']) {
    assert.equal(safeLink(url), url);
  }
});

test('a link in text never opens a script, a file or a path of the application', () => {
  for (const url of [
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://skein.example/1',
    '/console/sign-out',
    '//elsewhere.example',
    '#top',
    '',
  ]) {
    assert.equal(safeLink(url), undefined, url);
  }
});

test('a source links only to web URLs', () => {
  assert.equal(webLink('https://skein.example/'), 'https://skein.example/');
  assert.equal(webLink('mailto:ada@skein.example'), undefined);
  assert.equal(webLink(null), undefined);
});
