import { Service } from '../service.ts';
import { signedInMember } from './console-client.ts';
import { Visitor } from './visitor.ts';

/** Ada is an admin of Acme, Ben a member, and a robot works there; Eve is an admin of Globex. */
export interface SettingsWorld {
  readonly service: Service;
  readonly acme: string;
  readonly globex: string;
  readonly ada: Visitor;
  readonly ben: Visitor;
  readonly eve: Visitor;
  readonly robotId: string;
  end(): Promise<unknown>;
}

export async function startSettingsWorld(environment: Record<string, string> = {}): Promise<SettingsWorld> {
  const service = await Service.start({
    environment: {
      SKEIN_MODEL: 'scripted',
      // Tests send prompts faster than people do.
      SKEIN_CONSOLE_PROMPTS_PER_MINUTE: '100000',
      SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_MINUTE: '100000',
      ...environment,
    },
  });
  const [acme, globex] = [
    (await service.skein('org', 'create', 'Acme')).id,
    (await service.skein('org', 'create', 'Globex')).id,
  ];
  const [ada, ben, eve, robot] = await Promise.all([
    signUp(service, acme, 'ada@acme.example', 'admin'),
    signUp(service, acme, 'ben@acme.example', 'member'),
    signUp(service, globex, 'eve@globex.example', 'admin'),
    service.skein('member', 'add', acme, 'robot@acme.example', '--service'),
  ]);
  return { service, acme, globex, ada, ben, eve, robotId: robot.id, end: () => service.end() };
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
