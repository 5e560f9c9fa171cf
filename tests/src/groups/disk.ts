import { importGroup } from '../groups.ts';

await importGroup('disk');
