import { importGroup } from '../groups.ts';

await importGroup('operation');
