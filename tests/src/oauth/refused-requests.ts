import {
  base64,
  byAuthorization,
  byBasic,
  byBody,
  form,
  formType,
  grant,
  type OAuthErrorName,
  type TokenRequest,
} from '../../harness/oauth/token-requests.ts';
import type { IssuedApplication } from '../../harness/world/applications.ts';

/** A text that nothing else sends, so finding it in a response or in the log means that it leaked. */
export const canary = 'CANARY-5e1d-lantern';
export const formBytesMax = 16 * 1024;

/** Applications in every state. `app` is a valid one. */
export interface Clients {
  readonly app: IssuedApplication;
  readonly colleague: IssuedApplication;
  readonly foreign: IssuedApplication;
  readonly deleted: IssuedApplication;
  readonly rotated: IssuedApplication;
  /** The rotated application with its previous secret. */
  readonly stale: IssuedApplication;
  readonly outside: IssuedApplication;
  /** An API key in place of the client ID and secret. */
  readonly apiKey: IssuedApplication;
}

interface Refusal {
  readonly error: OAuthErrorName;
  /** Requests by what is wrong with each. */
  requests(clients: Clients): Record<string, TokenRequest>;
}

/** RFC 6749 §2.3.1, §3.2, §4.4.2 and §5.2, grouped by guarantee. */
export const refusals: Record<string, Refusal> = {
  'rejects another media type': {
    error: 'invalid_request',
    requests: ({ app }) => {
      const body = byBody(app).body as string;
      const { clientId: client_id, clientSecret: client_secret } = app;
      const json = JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret });
      const sentAs = (type: string, text = body) => ({
        headers: [['content-type', type] as const],
        body: text,
      });
      return {
        JSON: sentAs('application/json', json),
        'a form that says it is JSON': sentAs('application/json'),
        multipart: sentAs('multipart/form-data; boundary=x'),
        text: sentAs('text/plain'),
        'a longer name': sentAs('application/x-www-form-urlencoded-not'),
        'two types': sentAs('application/x-www-form-urlencoded, text/plain'),
        'no type at all': sentAs('x'),
        'only a parameter': sentAs(';'),
        none: { body },
      };
    },
  },

  'rejects a parameter that was sent twice, known or not, empty or not': {
    error: 'invalid_request',
    requests: ({ app }) => {
      const { body } = byBody(app);
      return {
        grant_type: form(`${body}&${grant}`),
        client_id: form(`${body}&client_id=${app.clientId}`),
        client_secret: form(`${body}&client_secret=${app.clientSecret}`),
        'another client_secret': form(`${body}&client_secret=${canary}`),
        'spelled differently': form(`${body}&client%5Fid=${app.clientId}`),
        unknown: form(`${body}&x=1&x=2`),
        'one of them empty': form(`${body}&client_secret=`),
        'both empty': form(`${body}&scope=&scope=`),
      };
    },
  },

  'rejects a request without a grant type': {
    error: 'invalid_request',
    requests: ({ app }) => {
      const credentials = `client_id=${app.clientId}&client_secret=${app.clientSecret}`;
      return {
        missing: form(credentials),
        empty: byBody(app, { grant_type: '' }),
        'in the query only': { ...form(credentials), path: `/oauth2/token?${grant}` },
        'another case of the name': form(`Grant_Type=client_credentials&${credentials}`),
        'an empty body': { ...byBasic(app), body: '' },
        'no body': { headers: [formType] },
        'no body and no type': {},
        'an empty chunked body': { headers: [formType], body: '', chunked: true },
      };
    },
  },

  'rejects a body that is not UTF-8 or too long': {
    error: 'invalid_request',
    requests: ({ app }) => {
      const { body } = byBody(app);
      const endingIn = (...bytes: number[]) =>
        form(Buffer.concat([Buffer.from(`${body}&x=`), Buffer.from(bytes)]));
      const long = form(`${body}&x=${canary.repeat(formBytesMax / canary.length)}`);
      return {
        'a stray byte': endingIn(0xff),
        'half a character': endingIn(0xc3),
        'a lone surrogate': endingIn(0xed, 0xa0, 0x80),
        'too long': long,
        'too long, in chunks': { ...long, chunked: true },
      };
    },
  },

  'rejects two authentication methods at once, right or wrong': {
    error: 'invalid_request',
    requests: ({ app, colleague }) => ({
      'the same secret twice': byBasic(app, byBody(app).body as string),
      'another secret': byBasic(app, `${grant}&client_secret=${canary}`),
      'another client': byBasic(app, `${grant}&client_id=${colleague.clientId}`),
    }),
  },

  'rejects every other grant type, with both methods': {
    error: 'unsupported_grant_type',
    requests: ({ app }) =>
      each(
        [
          'password',
          'authorization_code',
          'refresh_token',
          'Client_Credentials',
          ' client_credentials',
          'client_credentials ',
          'client_credentials,password',
          'urn:ietf:params:oauth:grant-type:jwt-bearer',
          canary,
        ],
        (type) => ({
          [`${type} in the body`]: byBody(app, { grant_type: type }),
          [`${type} by Basic`]: byBasic(app, new URLSearchParams({ grant_type: type }).toString()),
        }),
      ),
  },

  'rejects a client without an id or a secret': {
    error: 'invalid_client',
    requests: ({ app }) => ({
      'no client': form(grant),
      'no secret': byBody({ clientId: app.clientId }),
      'an empty secret': byBody({ ...app, clientSecret: '' }),
      'no id': byBody({ clientSecret: app.clientSecret }),
      'an empty id': byBody({ ...app, clientId: '' }),
      'in the query only': { ...form(grant), path: `/oauth2/token?${byBody(app).body}` },
      'names in another case': form(`${grant}&Client_Id=${app.clientId}&Client_Secret=${app.clientSecret}`),
    }),
  },

  'rejects an unknown client, a wrong secret, and deleted or rotated credentials, with both methods': {
    error: 'invalid_client',
    requests: (clients) =>
      each(Object.entries(wrongClients(clients)), ([what, client]) => ({
        [`${what} in the body`]: byBody(client),
        [`${what} by Basic`]: byBasic(client),
      })),
  },

  'decodes a plus in Basic as a space, as in a form': {
    // If the plus were kept, the two client IDs would differ, and the error would be `invalid_request`.
    error: 'invalid_client',
    requests: () => ({
      'the same client twice': byAuthorization(`Basic ${base64('a+b:x')}`, `${grant}&client_id=a+b`),
    }),
  },

  'rejects malformed Basic, and every other scheme': {
    error: 'invalid_client',
    requests: (clients) => each(wrongLines(clients), (line) => ({ [line]: byAuthorization(line) })),
  },

  'rejects two Authorization headers, even if both are right': {
    error: 'invalid_client',
    requests: ({ app, apiKey }) => {
      const line = ['authorization', `Basic ${base64(`${app.clientId}:${app.clientSecret}`)}`] as const;
      const bearer = ['authorization', `Bearer ${apiKey.clientSecret}`] as const;
      return {
        'the same twice': { headers: [formType, line, line], body: grant },
        'Basic and Bearer': { headers: [formType, line, bearer], body: grant },
      };
    },
  },

  'tells a client with the right secret that its organization has no public API': {
    error: 'unauthorized_client',
    requests: ({ outside }) => ({ body: byBody(outside), basic: byBasic(outside) }),
  },
};

function each<T>(things: readonly T[], of: (thing: T) => Record<string, TokenRequest>) {
  return Object.assign({}, ...things.map(of)) as Record<string, TokenRequest>;
}

function wrongClients(clients: Clients): Record<string, IssuedApplication> {
  const { clientId, clientSecret } = clients.app;
  return {
    'an unknown client': {
      clientId: clientId.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      clientSecret,
    },
    'a made-up client': { clientId: canary, clientSecret: canary },
    'a wrong secret': { clientId, clientSecret: `${clientSecret}x` },
    'half a secret': { clientId, clientSecret: clientSecret.slice(0, -1) },
    'the secret in another case': { clientId, clientSecret: swapCase(clientSecret) },
    'a space around the secret': { clientId, clientSecret: ` ${clientSecret} ` },
    'the client in another case': { clientId: clientId.toUpperCase(), clientSecret },
    'a zero byte': { clientId: `${clientId}\0`, clientSecret },
    "a colleague's secret": { clientId, clientSecret: clients.colleague.clientSecret },
    "another organization's secret": { clientId, clientSecret: clients.foreign.clientSecret },
    'the secret as the client': { clientId: clientSecret, clientSecret: clientId },
    'an SQL injection': { clientId: `${clientId}' OR '1'='1`, clientSecret },
    'a pattern': { clientId: 'app_%', clientSecret },
    'an API key': clients.apiKey,
    'a deleted client': clients.deleted,
    'the secret before the rotation': clients.stale,
    'without the public API, with a wrong secret': { ...clients.outside, clientSecret },
  };
}

function wrongLines({ app: { clientId, clientSecret }, apiKey }: Clients): string[] {
  const good = base64(`${clientId}:${clientSecret}`);
  const joined = [
    clientId + clientSecret,
    `%zz:${clientSecret}`,
    `${clientId}:${clientSecret}%`,
    `${clientId}:${clientSecret}%ff`,
    `${clientId}:`,
    `:${clientSecret}`,
    `${clientId}::${clientSecret}`,
    `${clientId}:${clientSecret}:x`,
    `${clientId}+:${clientSecret}`,
    `${clientId}:+${clientSecret}`,
    `${clientId}%3A${clientSecret}`,
  ];
  return [
    '',
    'Basic',
    'Basic ',
    ...joined.map((text) => `Basic ${base64(text)}`),
    `Basic ${Buffer.from(`${clientId}\xff:${clientSecret}`, 'latin1').toString('base64')}`,
    `Basic ${clientId}:${clientSecret}`,
    `Basic ${good.slice(0, 10)}*${good.slice(10)}`,
    `Basic ${good.slice(0, 10)} ${good.slice(10)}`,
    `Basic ${good}, Basic ${good}`,
    `Basic"${good}"`,
    `Bearer ${good}`,
    `Bearer ${apiKey.clientSecret}`,
    `Digest username="${clientId}"`,
    good,
  ];
}

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}
