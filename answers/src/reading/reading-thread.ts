import { answerTasks } from './answer-tasks.ts';
import { parseDocument } from './parse-document.ts';

// The program of the thread that runs the parsers.

await answerTasks(parseDocument);
