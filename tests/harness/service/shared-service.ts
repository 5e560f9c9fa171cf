import assert from 'node:assert/strict';
import { after } from 'node:test';
import { operate, Service, temporaryFolder } from './service.ts';

const services = new Map<string, Promise<Service>>();

/**
 * The service that all test files of this process share. Each file creates its own organizations on it. A file that
 * needs other settings, or that stops the service, starts its own. `store` is the part of the environment that
 * configures the store: one service runs for each store.
 */
export function sharedService(store: Record<string, string> = {}): Promise<Service> {
  const key = JSON.stringify(store);
  const service = services.get(key) ?? startWithoutDemo(store);
  services.set(key, service);
  return service;
}

/** A new service with the scripted model. Its store has an organization already, so it creates no demo. */
export async function startWithoutDemo(environment: Record<string, string> = {}): Promise<Service> {
  const folder = temporaryFolder();
  await operate(folder, ['org', 'create', 'First'], environment);
  return Service.start({ folder, environment: { ...settings, ...environment } });
}

const settings = {
  SKEIN_MODEL: 'scripted',
  // Tests send prompts faster than people do.
  SKEIN_CONSOLE_PROMPTS_PER_MINUTE: '100000',
  SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_MINUTE: '100000',
};

// Registered while the module loads, so that it belongs to the whole process and not to the file that asks first.
after(async () => {
  for (const service of services.values()) {
    assert.equal(await (await service).end(), 0, 'the shared service stops cleanly');
  }
});
