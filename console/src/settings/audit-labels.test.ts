import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDetail } from './audit-labels.ts';

test('describes the details of an entry in words', () => {
  const settings = { name: 'Acme', apiEnabled: true, dailyQuota: 10_000 };
  assert.equal(describeDetail(settings, 'Acme'), 'API enabled · 10,000 requests per day');
  assert.equal(describeDetail({ proof: 'password' }, null), 'With a password');
  assert.equal(describeDetail({ failures: 3, networks: 1 }, null), '3 attempts · From 1 network');
  assert.equal(describeDetail({ role: 'admin', service: true }, null), 'Role: admin · Service account');
});

test('leaves out details that say nothing', () => {
  assert.equal(describeDetail({ resets: false, owner: null }, null), '');
  assert.equal(
    describeDetail({ email: 'a@b.example', role: 'member', service: false }, 'a@b.example'),
    'Role: member',
  );
});

test('shows an unknown detail as it is', () => {
  assert.equal(describeDetail({ color: 'red' }, null), 'color: red');
});
