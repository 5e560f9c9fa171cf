import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { findSection, tableRows } from '../../harness/documents/markdown.ts';
import { findProgram } from '../../harness/service/machine.ts';
import { root, Service, temporaryFolder } from '../../harness/service/service.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const settings = tableRows(read('docs/settings.md')).map(([name]) => name);
const health = tableRows(findSection(read('docs/operating.md'), '## Health')).map(([path]) => path);
/** The service ends within this time after the drain, which takes at most twice its setting. */
const stopSeconds = 20;

/** The longest stop with these settings. */
const stopTime = (drainMs: string) => (2 * Number(drainMs)) / 1000 + stopSeconds;

function assertSettings(names: string[]): void {
  assert.ok(names.length > 0);
  for (const name of names) assert.ok(settings.includes(name), `${name} is not a setting`);
}

describe('deploy/Dockerfile', () => {
  const [, json = ''] = /^HEALTHCHECK [^\n]*\n +CMD (.*)$/m.exec(read('deploy/Dockerfile')) ?? [];
  const [, ...words] = JSON.parse(json) as string[];
  const check = (environment: Record<string, string>) =>
    spawnSync(process.execPath, words, { env: { ...process.env, ...environment }, encoding: 'utf8' });
  const tls = {
    SKEIN_TLS_CERT: join(root, 'tests/stand-ins/localhost-certificate.pem'),
    SKEIN_TLS_KEY: join(root, 'tests/stand-ins/localhost-key.pem'),
  };

  for (const [name, environment] of Object.entries({ HTTP: {}, HTTPS: tls })) {
    it(`has a health check that a service on ${name} passes, and a stopped one fails`, async () => {
      const service = await Service.start({ environment });
      const seen = { ...environment, SKEIN_PORT: new URL(service.baseUrl).port };
      const { status, stderr } = check(seen);
      await service.end();
      assert.deepEqual([status, stderr], [0, '']);
      assert.equal(check(seen).status, 1);
    });
  }
});

describe('deploy/compose.yaml', () => {
  const { services, networks } = parse(read('deploy/compose.yaml'), { merge: true });

  it('runs two read-only nodes of the image with known settings and enough time to drain', () => {
    const { one, two, postgres } = services;
    assert.deepEqual(one, two);
    assert.equal(one.build.dockerfile, 'deploy/Dockerfile');
    assertSettings(Object.keys(one.environment));
    assert.equal(one.read_only, true);
    assert.ok(Number.parseInt(one.stop_grace_period, 10) > stopTime(one.environment.SKEIN_DRAIN_MS));
    assert.equal(one.depends_on.postgres.condition, 'service_healthy');
    assert.ok(postgres.healthcheck.test.includes('pg_isready'));
  });

  it('trusts forwarded addresses from its proxy only', () => {
    const { ipv4_address: address } = services.proxy.networks.default;
    assert.equal(services.one.environment.SKEIN_TRUSTED_PROXIES, address);
    const [{ subnet, ip_range: assigned }] = networks.default.ipam.config;
    const covers = (range: string) => {
      const [network, prefix] = range.split('/');
      const list = new BlockList();
      list.addSubnet(network!, Number(prefix));
      return list.check(address);
    };
    assert.deepEqual([covers(subnet), covers(assigned)], [true, false]);
  });

  it('has a proxy that lists both nodes and checks their readiness', () => {
    const proxy = read('deploy/haproxy.cfg');
    assert.deepEqual(services.proxy.depends_on, ['one', 'two']);
    for (const node of services.proxy.depends_on)
      assert.match(proxy, new RegExp(`^  server ${node} ${node}:8080$`, 'm'));
    assert.match(proxy, /option httpchk GET \/readyz/);
  });

  const haproxy = findProgram('haproxy');
  it('has a proxy whose configuration is valid', { skip: haproxy === undefined && 'needs haproxy' }, () => {
    const { status, stderr } = spawnSync(haproxy as string, ['-c', '-f', 'deploy/haproxy.cfg'], {
      cwd: root,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  });
});

describe('deploy/kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('deploy/kubernetes.yaml'));
  const objects = documents.map((document) => document.toJS());
  const [deployment, service, budget] = objects;
  const pod = deployment.spec.template;
  const [container] = pod.spec.containers;

  it('has a Deployment, a Service and a PodDisruptionBudget that select the same pods', () => {
    assert.deepEqual(
      documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]),
      [],
    );
    assert.deepEqual(
      objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
      ['apps/v1 Deployment', 'v1 Service', 'policy/v1 PodDisruptionBudget'],
    );
    const { labels } = pod.metadata;
    assert.deepEqual(deployment.spec.selector.matchLabels, labels);
    assert.deepEqual(service.spec.selector, labels);
    assert.deepEqual(budget.spec.selector.matchLabels, labels);
    assert.ok(deployment.spec.replicas > budget.spec.maxUnavailable);
  });

  it('has probes at the addresses of the service, and ports that exist', () => {
    const ports = container.ports.map(({ name }: { name: string }) => name);
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      const { path, port } = container[probe].httpGet;
      assert.ok(health.includes(path), path);
      assert.ok(ports.includes(port), port);
    }
    assert.equal(container.readinessProbe.httpGet.path, '/readyz');
    assert.equal(container.livenessProbe.httpGet.path, '/healthz');
    for (const { targetPort } of service.spec.ports) assert.ok(ports.includes(targetPort));
  });

  it('uses known settings and gives a pod enough time to drain', () => {
    assertSettings(container.env.map(({ name }: { name: string }) => name));
    const { value: drainMs } = container.env.find(({ name }: { name: string }) => name === 'SKEIN_DRAIN_MS');
    assert.ok(pod.spec.terminationGracePeriodSeconds > stopTime(drainMs));
    const { periodSeconds, failureThreshold } = container.readinessProbe;
    assert.ok(
      periodSeconds * failureThreshold * 1000 < Number(drainMs),
      'a pod is taken out while it drains',
    );
  });

  it('runs as the user of the image, on a read-only file system', () => {
    const [, uid] = /^USER (\d+):\d+$/m.exec(read('deploy/Dockerfile')) ?? [];
    assert.equal(pod.spec.securityContext.runAsUser, Number(uid));
    assert.equal(container.securityContext.readOnlyRootFilesystem, true);
  });
});

describe('deploy/skein.service', () => {
  const unit = read('deploy/skein.service');
  const values = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value as string);

  it('gives the service enough time to drain by default, and a folder for its store', () => {
    assert.ok(Number(values('TimeoutStopSec')[0]) > stopTime('5000'));
    const [store] = values('Environment');
    assert.equal(store, `SKEIN_DATABASE_URL=sqlite:/var/lib/${values('StateDirectory')[0]}/skein.db`);
  });

  it('lets the service list the addresses of the machine, without which it cannot listen on 0.0.0.0', () => {
    assert.ok(values('RestrictAddressFamilies')[0]?.split(' ').includes('AF_NETLINK'));
  });

  const analyze = findProgram('systemd-analyze');
  it('is accepted by systemd', { skip: analyze === undefined && 'needs systemd-analyze' }, () => {
    const file = join(temporaryFolder(), 'skein.service');
    // The package and its user are not on this machine.
    writeFileSync(
      file,
      unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true').replaceAll(/^(User|Group)=skein$/gm, '$1=root'),
    );
    const { status, stderr, error } = spawnSync(analyze as string, ['verify', file], { encoding: 'utf8' });
    assert.equal(status, 0, `${error ?? ''}${stderr}`);
    assert.ok(!stderr.includes('skein.service'), stderr);
  });
});
