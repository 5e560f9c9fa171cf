import { importTests } from './import-tests.ts';

// In a process of its own, because it takes as long as all other light tests.
await importTests('server/src/http/**/*.test.ts');
