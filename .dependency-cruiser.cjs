/** Who may import whom. The comment of a rule is the sentence a developer sees when it is broken. */
const source = '^server/src';
const runtime = '^runtime/src/';
const pure = `${runtime}pure/`;
const answers = '^answers/src/';
const tests = '\\.test\\.ts$';
const consoleSchemas = `${source}/http/(schema|console/[a-z]+-schemas)\\.ts$`;
const remoteCommands = `${source}/commands/remote/`;

/** A folder that may import only what is listed (and itself). */
function only(name, from, allowed, comment) {
  return {
    name,
    severity: 'error',
    comment,
    from: { path: from, pathNot: tests },
    to: { pathNot: [from, ...allowed] },
  };
}

module.exports = {
  forbidden: [
    only(
      'domain-is-pure',
      `${source}/domain/`,
      [pure],
      'domain holds rules and types: it imports only runtime/src/pure, so that it needs no machine to run on.',
    ),
    only(
      'pure',
      pure,
      [],
      'runtime/src/pure does no I/O and imports nothing, so that the domain may import it.',
    ),
    {
      name: 'answers-entry',
      severity: 'error',
      comment:
        'Only index.ts of answers is imported from outside. Its tests and answers-quick.ts and answers-fit.ts, which measure parts of the embedded model, may use other files.',
      from: {
        path: '^(server|release|tests|bench|site|console|client|runtime)/',
        pathNot: '^bench/src/answers-(?:quick|fit)\\.ts$',
      },
      to: { path: '^answers/', pathNot: '^answers/src/index\\.ts$' },
    },
    only('runtime', runtime, [], 'runtime imports no other workspace and no package.'),
    only(
      'store-port',
      `${source}/storage/port/`,
      [`${source}/domain/`],
      'The store port speaks of the domain only.',
    ),
    only('archive-port', `${source}/storage/port/archive\\.ts$`, [], 'The archive port speaks of rows only.'),
    only(
      'usecases',
      `${source}/usecases/`,
      [`${source}/domain/`, `${source}/storage/port/store\\.ts$`, runtime],
      'A use case knows the domain, runtime and the store port, and names what else it needs, which compose-use-cases.ts passes in.',
    ),
    only(
      'shared-sql',
      `${source}/storage/sql/`,
      [`${source}/domain/`, runtime, `${source}/storage/port/`, '^(node:)?crypto$'],
      'Shared SQL knows the domain and the port: each adapter passes in how its statements are run.',
    ),
    only(
      'sqlite-adapter',
      `${source}/storage/sqlite/`,
      [
        `${source}/domain/`,
        runtime,
        `${source}/storage/(port|cache|migrations|sql)/`,
        '^node_modules/better-sqlite3/',
        '^node_modules/@types/better-sqlite3/',
        '^(crypto|fs|path|timers/promises|util|worker_threads)$',
        '^node:',
      ],
      'The SQLite adapter knows the domain, its port and its driver, and never another adapter.',
    ),
    only(
      'postgres-adapter',
      `${source}/storage/postgres/`,
      [
        `${source}/domain/`,
        runtime,
        `${source}/storage/(port|cache|migrations|sql)/`,
        '^node_modules/(@types/)?pg',
        '^(crypto|fs|path|timers/promises)$',
        '^node:',
      ],
      'The PostgreSQL adapter knows the domain, its port and its driver, and never another adapter.',
    ),
    only(
      'replies',
      `${source}/replies/`,
      [`${source}/domain/`, `${source}/storage/port/store\\.ts$`, runtime],
      'The reply engine knows the domain, runtime, its own model port and the store port: compose.ts decides what it gets.',
    ),
    only(
      'otlp',
      `${source}/otlp/`,
      [`${source}/domain/telemetry\\.ts$`, '^node_modules/@opentelemetry/'],
      'OTLP imports the tracing port and its own libraries, and is loaded only if a receiver is configured.',
    ),
    {
      name: 'answers',
      severity: 'error',
      comment:
        'answers never imports the server: it declares the shapes that it needs, which the domain satisfies, and knows no other workspace but runtime.',
      from: { path: '^answers/' },
      to: { path: '^(server|client|console|site|examples|tests|bench|release)/' },
    },
    {
      name: 'http-surfaces',
      severity: 'error',
      comment: 'A surface knows the domain, the use cases and what http/*.ts shares, but not http/app.',
      from: { path: `${source}/http/(?!app/)[^/]+/`, pathNot: tests },
      to: {
        path: [
          `${source}/(storage|commands|config)/`,
          answers,
          `${source}/[^/]+\\.ts$`,
          `${source}/http/app/`,
        ],
      },
    },
    {
      name: 'surfaces-without-store',
      severity: 'error',
      comment:
        'Surfaces call modules of use cases, and cannot name the store: a use case that is missing belongs in usecases/.',
      from: { path: `${source}/(http|commands)/`, pathNot: tests },
      to: { path: `${source}/storage/port/` },
    },
    {
      name: 'replies-door',
      severity: 'error',
      comment:
        'The reply engine has one entry file: what replies/index.ts does not export is its own business.',
      from: { path: '^server/', pathNot: `${source}/replies/` },
      to: { path: `${source}/replies/`, pathNot: `${source}/replies/index\\.ts$` },
    },
    {
      name: 'sockets',
      severity: 'error',
      comment: 'Only http/wire touches a socket: what it exports is its index.ts.',
      from: { path: `${source}/`, pathNot: [tests, `${source}/http/wire/`] },
      to: { path: `${source}/http/wire/`, pathNot: `${source}/http/wire/index\\.ts$` },
    },
    {
      name: 'wire',
      severity: 'error',
      comment: 'http/wire knows limits and turns, and nothing of what is served.',
      from: { path: `${source}/http/wire/`, pathNot: tests },
      to: { path: `${source}/`, pathNot: [`${source}/http/wire/`, `${source}/domain/`] },
    },
    {
      name: 'surfaces-apart',
      severity: 'error',
      comment:
        'One surface never imports another: what two of them need stands in http/*.ts or is a use case.',
      from: { path: `${source}/http/(?!app/)([^/]+)/` },
      to: { path: `${source}/http/[^/]+/`, pathNot: [`${source}/http/$1/`, `${source}/http/wire/`] },
    },
    {
      name: 'http-shared',
      severity: 'error',
      comment:
        'http/*.ts stands below the surfaces; only http/app (and what writes its document) puts them together.',
      from: { path: `${source}/http/[^/]+\\.ts$`, pathNot: tests },
      to: {
        path: [
          `${source}/http/(?!wire/)[^/]+/`,
          `${source}/(storage|commands|config)/`,
          answers,
          `${source}/[^/]+\\.ts$`,
        ],
      },
    },
    {
      name: 'commands',
      severity: 'error',
      comment:
        'main.ts and the commands know compose.ts, config, the use cases and the domain; adapters are named in compose.ts only.',
      from: { path: [`${source}/commands/`, `${source}/main\\.ts$`], pathNot: tests },
      to: {
        path: [`${source}/(storage|http)/`, answers, '^node_modules/(better-sqlite3|fastify|pg)/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    only(
      'client-alone',
      '^client/src/',
      [],
      'client has no runtime dependencies, knows nothing of the server, and runs where there is no Node.js.',
    ),
    only(
      'remote-commands',
      remoteCommands,
      [
        `${source}/commands/(command|output)\\.ts$`,
        '^node_modules/(commander|zod)/',
        '^(node_modules/)?@modelcontextprotocol/',
        `${source}/config/`,
        '^client/src/index\\.ts$',
        '^(child_process|events|stream|stream/consumers|tty)$',
      ],
      'A command on a service somewhere is a client like any other: it knows what @skein/client exports, and no use case and no store.',
    ),
    {
      name: 'server-alone',
      severity: 'error',
      comment:
        'server knows none of the workspaces that stand around it; only its remote commands know the client.',
      from: { path: '^server/', pathNot: remoteCommands },
      to: { path: '^(client|console|examples|tests|bench)/' },
    },
    {
      name: 'whole-system',
      severity: 'error',
      comment:
        'examples, tests and bench use the service from outside, as a user would; they import no part of it. Only answers-quick.ts and answers-fit.ts call the model in their own process.',
      from: { path: '^(examples|tests|bench)/', pathNot: '^bench/src/answers-(?:quick|fit)\\.ts$' },
      to: { path: '^(server|answers|runtime)/' },
    },
    {
      name: 'examples-stand-alone',
      severity: 'error',
      comment:
        'An example is a program that can be copied out: it imports @skein/client and what Node.js brings, and no file of this repository.',
      from: { path: '^examples/([^/]+)/' },
      to: { path: '^(client/src|console|examples|tests|bench)/', pathNot: '^examples/$1/' },
    },
    {
      name: 'console-apart',
      severity: 'error',
      comment:
        "console knows the schemas of its backend's routes, and nothing else of the server, the tests or the benchmarks.",
      from: { path: '^console/' },
      to: { path: '^(server|answers|runtime|tests|bench)/', pathNot: consoleSchemas },
    },
    {
      name: 'console-types-only',
      severity: 'error',
      comment:
        'console imports types from the schemas, never code: nothing of the server reaches the browser.',
      from: { path: '^console/' },
      to: { path: consoleSchemas, dependencyTypesNot: ['type-only'] },
    },
    only(
      'console-schemas',
      consoleSchemas,
      [`${source}/domain/`, '^typebox$'],
      'The schemas are compiled with the console as well: they know TypeBox and the domain, and need no Node.js.',
    ),
    {
      name: 'tests-apart',
      severity: 'error',
      comment:
        'The tests of a folder run in one process and import no other tests: what two folders need is in tests/harness.',
      from: { path: '^tests/src/(.+)/[^/]+$' },
      to: { path: '^tests/src/', pathNot: '^tests/src/$1/[^/]+$' },
    },
    {
      name: 'harness-without-tests',
      severity: 'error',
      comment: 'tests/harness and bench import no tests: tests import the harness.',
      from: { path: '^(tests/harness|bench)/' },
      to: { path: '^tests/src/' },
    },
    {
      name: 'tests-no-folder-circle',
      scope: 'folder',
      severity: 'error',
      comment: 'Two folders of the harness that import each other are one folder, or three.',
      from: { path: '^tests/' },
      to: { circular: true },
    },
    {
      name: 'no-circle',
      severity: 'error',
      comment: 'Two files that import each other are one file, or three.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'declared',
      severity: 'error',
      comment: 'What is imported is declared in the package.json of the workspace that imports it.',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    // What is built is not what is written.
    exclude: { path: '^(client|console|site)/dist' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'] },
  },
};
