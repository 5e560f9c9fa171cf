import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OAuthError, type OAuthErrorCode, readClient, readForm } from './index.ts';

const urlencoded = 'application/x-www-form-urlencoded';
const form = (body: string | Buffer, contentType: string | undefined = urlencoded) =>
  readForm(contentType, Buffer.from(body));

function refused(code: OAuthErrorCode, act: () => unknown): void {
  assert.throws(act, (error) => error instanceof OAuthError && error.code === code);
}

describe('The form of a token request', () => {
  it('returns each parameter, decoded', () => {
    const read = form('grant_type=client_credentials&client_id=a%20b+c&n%C3%A4me=%F0%9F%94%91');
    assert.deepEqual(
      [...read],
      [
        ['grant_type', 'client_credentials'],
        ['client_id', 'a b c'],
        ['näme', '🔑'],
      ],
    );
  });

  it('accepts a charset and any case in its Content-Type', () => {
    for (const contentType of [
      `${urlencoded};charset=UTF-8`,
      `${urlencoded} ; charset=utf-8`,
      'Application/X-WWW-Form-URLEncoded',
    ]) {
      assert.equal(form('a=b', contentType).get('a'), 'b', contentType);
    }
  });

  it('rejects any other Content-Type, and none', () => {
    for (const contentType of ['application/json', `${urlencoded}x`, `x/${urlencoded}`, '']) {
      refused('invalid_request', () => form('a=b', contentType));
    }
    refused('invalid_request', () => readForm(undefined, Buffer.from('a=b')));
  });

  it('treats a parameter without a value as missing', () => {
    assert.deepEqual([...form('a=&b&c=1')], [['c', '1']]);
    assert.deepEqual([...form('')], []);
    assert.deepEqual([...readForm(urlencoded, undefined)], []);
  });

  it('rejects a parameter that occurs twice, whatever its values and spelling', () => {
    for (const body of ['a=1&a=2', 'a=1&a=1', 'a=&a=1', 'a=1&a', 'a=1&%61=1', 'unknown=1&b=1&unknown=2']) {
      refused('invalid_request', () => form(body));
    }
  });

  it('rejects bytes that are not UTF-8', () => {
    refused('invalid_request', () => form(Buffer.from([0x61, 0x3d, 0xff])));
  });
});

const basic = (text: string | Buffer) => `Basic ${Buffer.from(text).toString('base64')}`;
const nothing = new Map<string, string>();
const client = { clientId: 'app_1', clientSecret: 'eas_2' };

describe('The client of a token request', () => {
  it('is read from Basic, or from the body', () => {
    assert.deepEqual(readClient(basic('app_1:eas_2'), nothing), client);
    const body = form('client_id=app_1&client_secret=eas_2');
    assert.deepEqual(readClient(undefined, body), client);
  });

  it('is read from Basic in any case, with spaces around it, padded or not', () => {
    for (const text of ['app_1:eas_2', 'app_1:eas_23', 'app_1:eas_234']) {
      const encoded = Buffer.from(text).toString('base64');
      for (const value of [
        `basic ${encoded}`,
        `BASIC   ${encoded} `,
        `Basic ${encoded.replaceAll('=', '')}`,
      ]) {
        const { clientId, clientSecret } = readClient(value, nothing);
        assert.equal(`${clientId}:${clientSecret}`, text, value);
      }
    }
  });

  it('has its id and secret form-decoded separately', () => {
    const read = (text: string) => readClient(basic(text), nothing);
    assert.deepEqual(read('a%3Ab:c+d%2B'), { clientId: 'a:b', clientSecret: 'c d+' });
    assert.deepEqual(read('a:b:c'), { clientId: 'a', clientSecret: 'b:c' });
    assert.deepEqual(read('%C3%A4:ö'), { clientId: 'ä', clientSecret: 'ö' });
  });

  it('may repeat its id in the body if it is the same as in Basic', () => {
    const authorization = basic('app_1:eas_2');
    assert.deepEqual(readClient(authorization, form('client_id=app_1')), client);
    refused('invalid_request', () => readClient(authorization, form('client_id=app_9')));
  });

  it('is rejected with two methods at once, even if they agree', () => {
    const authorization = basic('app_1:eas_2');
    refused('invalid_request', () => readClient(authorization, form('client_id=app_1&client_secret=eas_2')));
    refused('invalid_request', () => readClient(authorization, form('client_secret=eas_2')));
  });

  it('is rejected without an id or a secret', () => {
    for (const body of ['', 'client_id=app_1', 'client_secret=eas_2', 'client_id=app_1&client_secret=']) {
      refused('invalid_client', () => readClient(undefined, form(body)));
    }
  });

  it('is rejected when Authorization is not valid Basic, even if the body has credentials', () => {
    const body = form('client_id=app_1&client_secret=eas_2');
    for (const authorization of [
      '',
      'Basic',
      'Basic ',
      'Bearer abc',
      'Basic a b',
      'Basic =',
      `Basic${Buffer.from('app_1:eas_2').toString('base64')}`,
      `${basic('app_1:eas_2')},${basic('app_1:eas_2')}`,
      basic('no colon'),
      basic('a:%'),
      basic('a:%FF'),
      basic('%E0%A4%A:b'),
      basic(Buffer.from([0x61, 0x3a, 0xff])),
    ]) {
      for (const parameters of [nothing, body]) {
        refused('invalid_client', () => readClient(authorization, parameters));
      }
    }
  });

  it('is rejected when Authorization was sent twice, which the listener joins', () => {
    const authorization = basic('app_1:eas_2');
    refused('invalid_client', () => readClient(`${authorization}, ${authorization}`, nothing));
  });
});
