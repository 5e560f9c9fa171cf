import type { SimulatedNode } from './node.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Begins a fault that ends after `ms`, or earlier if `isOver`. */
function during(
  world: World,
  text: string,
  ms: number,
  begin: () => void,
  end: () => void,
  isOver?: () => boolean,
): void {
  const { loop } = world;
  const endsMs = loop.nowMs + ms;
  loop.note(`fault: ${text} for ${Math.round(ms)} ms`);
  world.faults += 1;
  world.troubleMs = loop.nowMs;
  begin();
  const check = () => {
    if (world.settling) return;
    if (loop.nowMs < endsMs - 1 && !isOver?.()) return watch();
    loop.note(`fault ends: ${text}`);
    world.faults -= 1;
    world.troubleMs = loop.nowMs;
    end();
  };
  const watch = () => void loop.after(isOver ? Math.min(50, endsMs - loop.nowMs) : ms, 'fault ends', check);
  watch();
}

function pickRunning(world: World, random: Random): number | undefined {
  const running = [...world.nodes.keys()].filter((place) => {
    const { process, isStopping } = world.nodes[place]!;
    return process.state === 'running' && !isStopping;
  });
  return running.length === 0 || world.isSettingClock ? undefined : random.pick(running);
}

/** Its claims may expire now. */
function excuse(world: World, { process }: SimulatedNode): void {
  for (const { claim } of world.oracle.running) if (claim?.node === process) claim.excused = true;
}

export function crash(world: World, random: Random): void {
  const place = pickRunning(world, random);
  if (place !== undefined) kill(world, place, random.integer(6000, 50));
}

/** A reply that ends its process: the node is started again, as by a service manager. */
export function crashNode(world: World, node: SimulatedNode): void {
  const isOver = world.settling || world.isSettingClock || node.isStopping;
  if (!isOver && node.process.state === 'running') kill(world, world.nodes.indexOf(node), 200);
}

function kill(world: World, place: number, ms: number): void {
  const node = world.nodes[place]!;
  during(
    world,
    `${node.process.name} is killed`,
    ms,
    () => {
      excuse(world, node);
      node.process.state = 'dead';
      world.network.disconnect(node.process);
    },
    () => void world.startNode(place),
  );
}

/** As for an upgrade: a clean stop uses up no attempt. */
export function restart(world: World, random: Random): void {
  const place = pickRunning(world, random);
  if (place === undefined) return;
  const node = world.nodes[place]!;
  during(
    world,
    `${node.process.name} stops`,
    8000,
    () => {
      void node
        .stop()
        .catch((error) => world.unexpected(error))
        .then(() => world.loop.note(`${node.process.name} has stopped`));
    },
    () => {
      // Claims that it could not release while the store was unavailable expire.
      excuse(world, node);
      node.process.state = 'dead';
      world.network.disconnect(node.process);
      world.startNode(place);
    },
  );
}

/** Longer than its leases: it often resumes just after another worker has claimed the same replies. */
export function pause(world: World, random: Random): void {
  const place = pickRunning(world, random);
  if (place === undefined) return;
  const node = world.nodes[place]!;
  const { process } = node;
  const held = [...world.oracle.running].filter(({ claim }) => claim?.node === process);
  const isTakenOver = () => held.some(({ claim }) => claim !== undefined && claim.node !== process);
  during(
    world,
    `${process.name} is paused`,
    random.integer(9000, 50),
    () => {
      excuse(world, node);
      process.state = 'paused';
    },
    () => {
      excuse(world, node);
      world.loop.resume(process);
    },
    isTakenOver,
  );
}

export function outage(world: World, random: Random): void {
  const { weather } = world.network;
  if (weather.outage) return;
  during(
    world,
    'the database is down',
    random.integer(8000, 50),
    () => {
      weather.outage = true;
    },
    () => {
      weather.outage = false;
    },
  );
}

export function cutOff(world: World, random: Random): void {
  const node = random.pick(world.nodes);
  const { cutOff: cut } = world.network.weather;
  if (cut.has(node.process)) return;
  during(
    world,
    `${node.process.name} cannot reach the database`,
    random.integer(8000, 50),
    () => {
      excuse(world, node);
      cut.add(node.process);
    },
    () => {
      excuse(world, node);
      cut.delete(node.process);
    },
  );
}

/** Calls, responses (even of commits) or notices are lost, or everything is slow. */
export function storm(world: World, random: Random): void {
  const { weather } = world.network;
  if (weather.lostShare > 0 || weather.slowness > 1 || weather.noticesLost > 0) return;
  const lostShare = random.pick([0, 0.05, 0.2]);
  const slowness = random.pick([1, 10, 40]);
  const rejectedShare = random.pick([0, 0.1]);
  const noticesLost = random.pick([0, 0.5, 1]);
  const lost = `${lostShare} of calls and ${noticesLost} of notices are lost`;
  const text = `${lost}, ${rejectedShare} of batched calls are rejected, ${slowness} times slower,`;
  during(
    world,
    text,
    random.integer(10_000, 50),
    () => {
      Object.assign(weather, { lostShare, rejectedShare, slowness, noticesLost });
    },
    () => {
      Object.assign(weather, { lostShare: 0, rejectedShare: 0, slowness: 1, noticesLost: 0 });
    },
  );
}

/**
 * Sets a clock. Only while every node runs and reaches the store: the store makes up for a jump that a running process
 * has seen.
 */
export function setClock(world: World, random: Random): void {
  if (world.faults > 0) return;
  const which = random.pick(['store', 'nodes'] as const);
  const ms = random.chance(0.5) ? random.integer(60_000, 5000) : -random.integer(20_000, 100);
  world.isSettingClock = true;
  world.clockOffsetMs[which] += ms;
  world.loop.after(1500, 'clock set', () => {
    world.isSettingClock = false;
  });
  // After it was set back, the store's time runs at half speed until the clock has caught up.
  const text = `the clock of the ${which} is set by ${ms} ms,`;
  during(
    world,
    text,
    ms < 0 ? -2 * ms : 1500,
    () => {},
    () => {},
  );
}
