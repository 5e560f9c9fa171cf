import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { root, type Service } from '../../harness/service/service.ts';
import { sharedService } from '../../harness/service/shared-service.ts';

describe('The OpenAPI document', () => {
  let service: Service;
  before(async () => {
    service = await sharedService();
  });

  it('is committed exactly as it is served', async () => {
    const served = await (await fetch(`${service.baseUrl}/openapi.json`)).text();
    const committed = readFileSync(join(root, 'openapi.json'), 'utf8');
    assert.equal(committed, served, "run 'npm run openapi' and commit openapi.json");
  });

  it('follows the recommended rules for OpenAPI documents', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const source = readFileSync(join(root, 'openapi.json'), 'utf8');
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    assert.deepEqual(
      problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
      [],
    );
  });

  it('allows fields in responses that it does not name yet, and none in a rename', () => {
    const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'));
    const closed: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('additionalProperties' in value) closed.push(path);
      for (const [name, part] of Object.entries(value)) visit(part, `${path}/${name}`);
    };
    visit(document, '');
    assert.deepEqual(closed, [
      '/paths//api/v1/threads/{id}/patch/requestBody/content/application/json/schema',
    ]);
  });

  it('uses no format that a strict validator rejects', () => {
    const formats = readFileSync(join(root, 'openapi.json'), 'utf8').matchAll(/"format": "([^"]+)"/g);
    assert.deepEqual([...new Set(Array.from(formats, ([, format]) => format))], ['date-time']);
  });

  it('describes the five operations, each with an example and every error it can return', async () => {
    const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'));
    assert.equal(document.openapi, '3.1.0');
    const operations = Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    );
    assert.deepEqual(operations.map(({ name }) => name).sort(), [
      'delete /api/v1/threads/{id}',
      'get /api/v1/threads',
      'get /api/v1/threads/{id}',
      'patch /api/v1/threads/{id}',
      'post /api/v1/threads',
    ]);
    for (const { name, operation } of operations) {
      for (const status of ['400', '401', '404', '429', '500']) {
        assert.ok(operation.responses[status]?.content['application/json'].example, `${name} ${status}`);
      }
      const success = operation.responses['201'] ?? operation.responses['200'];
      assert.ok(success.content['application/json'].example, name);
    }
  });
});
