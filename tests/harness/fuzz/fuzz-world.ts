import { join } from 'node:path';
import { readMetricsUrl } from '../http/scrape.ts';
import { root, type Service } from '../service/service.ts';
import { startWithoutDemo } from '../service/shared-service.ts';
import { hire } from '../world/tenants.ts';
import type { FuzzTarget } from './fuzz-run.ts';

/** An HTTP and an HTTPS service, with three ports in total to send anything to. */
export class FuzzWorld {
  readonly services: readonly Service[];
  readonly targets: readonly FuzzTarget[];

  private constructor(services: readonly Service[], targets: readonly FuzzTarget[]) {
    this.services = services;
    this.targets = targets;
  }

  static async start(): Promise<FuzzWorld> {
    const environment = { SKEIN_METRICS_PORT: '0', SKEIN_DAILY_QUOTA: '1000000000' };
    const tls = {
      SKEIN_TLS_CERT: join(root, 'tests/stand-ins/localhost-certificate.pem'),
      SKEIN_TLS_KEY: join(root, 'tests/stand-ins/localhost-key.pem'),
    };
    const [plain, secure] = await Promise.all([
      startWithoutDemo(environment),
      startWithoutDemo({ ...environment, ...tls }),
    ]);
    const hireKey = async (service: Service): Promise<string> =>
      (await hire(service, 'First', 'ada@first.example')).key;
    const [key, secureKey] = await Promise.all([hireKey(plain), hireKey(secure)]);
    const metricsUrl = readMetricsUrl(plain) as string;
    return new FuzzWorld(
      [plain, secure],
      [
        { name: 'HTTP', baseUrl: plain.baseUrl, key, callsMax: 200 },
        // Over HTTPS the same handlers get the same calls, and the metrics port has one route.
        { name: 'HTTPS', baseUrl: secure.baseUrl, key: secureKey, callsMax: 20 },
        { name: 'metrics', baseUrl: new URL(metricsUrl).origin, key, callsMax: 20 },
      ],
    );
  }

  /** Log lines that report something unexpected. */
  faults(): string[] {
    return this.services.flatMap(({ output }) => output.filter((line) => /"level":[56]0/.test(line)));
  }

  /** Whether every service stopped cleanly. One that had died before does not exit with 0. */
  async end(): Promise<boolean> {
    return (await Promise.all(this.services.map((service) => service.end()))).every((code) => code === 0);
  }
}
