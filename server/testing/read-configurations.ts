/**
 * Reads environments as JSON from standard input and prints for each the error message of `skein serve`, or null if the
 * configuration is valid. One process checks all of them; `skein serve` would take a process for each.
 */
import { text } from 'node:stream/consumers';
import { ConfigError, readConfig } from '../src/config/config.ts';

const environments: NodeJS.ProcessEnv[] = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(environments.map(findFault)));

function findFault(environment: NodeJS.ProcessEnv): string | null {
  try {
    readConfig(environment);
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}
