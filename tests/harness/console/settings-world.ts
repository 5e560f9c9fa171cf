import type { Service } from '../service/service.ts';
import { sharedService, startWithoutDemo } from '../service/shared-service.ts';
import { signedInMember } from './console-client.ts';
import { Visitor } from './visitor.ts';

/** Acme has an admin (Ada), a member (Ben) and a service account (the robot). Globex has an admin (Eve). */
export interface SettingsWorld {
  readonly service: Service;
  readonly acme: string;
  readonly globex: string;
  readonly ada: Visitor;
  readonly ben: Visitor;
  readonly eve: Visitor;
  readonly robotId: string;
  /** The email address of a person in this world. Several worlds may share a service, so each has its own domain. */
  email(name: string): string;
  end(): Promise<unknown>;
}

/** Two new organizations on the service that the test files of this process share. */
export async function sharedSettingsWorld(store: Record<string, string> = {}): Promise<SettingsWorld> {
  return worldOn(await sharedService(store));
}

/** Two organizations on a separate service. */
export async function startSettingsWorld(environment: Record<string, string> = {}): Promise<SettingsWorld> {
  return worldOn(await startWithoutDemo(environment));
}

let worlds = 0;

async function worldOn(service: Service): Promise<SettingsWorld> {
  worlds += 1;
  const domain = `world-${worlds}.example`;
  const email = (name: string) => `${name}@${domain}`;
  const { id: acme } = await service.skein('org', 'create', 'Acme');
  const { id: globex } = await service.skein('org', 'create', 'Globex');
  const [ada, ben, eve, robot] = await Promise.all([
    signUp(service, acme, email('ada'), 'admin'),
    signUp(service, acme, email('ben'), 'member'),
    signUp(service, globex, email('eve'), 'admin'),
    service.skein('member', 'add', acme, email('robot'), '--service'),
  ]);
  return { service, acme, globex, ada, ben, eve, robotId: robot.id, email, end: () => service.end() };
}

/** The operator adds a person, who then opens the link. */
export async function signUp(
  service: Service,
  organization: string,
  email: string,
  role: 'admin' | 'member',
): Promise<Visitor> {
  return new Visitor(await signedInMember(service, organization, email, role), organization);
}
