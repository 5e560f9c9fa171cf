import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../../harness/http/api.ts';
import type { ApiResponse } from '../../harness/http/conformance.ts';
import { listFaults, Nodes } from '../../harness/nodes/nodes.ts';
import { Ledger } from '../../harness/replies/ledger.ts';
import { Observations } from '../../harness/replies/observations.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';

const leaseMs = 1000;
const writersEach = 3;
/** The slots of each surviving node: any further running replies belong to the killed node. */
const slots = 5;
const writesBeforeKill = 100;
const writesAfterKill = 30;
/**
 * Long enough for the leases of the dead node to expire and for its replies to be rewritten, even on a busy machine.
 */
const allEndedWithinMs = leaseMs + 20_000;

describe('A node that is killed under load', () => {
  let nodes: Nodes | undefined;
  after(() => nodes?.end());

  it('loses no acknowledged write and leaves no partial one, and other nodes complete its replies exactly once', {
    timeout: 600_000,
  }, async (t) => {
    nodes = await Nodes.prepare({ SKEIN_REPLY_LEASE_MS: String(leaseMs) });
    const few = { SKEIN_REPLY_CONCURRENCY: String(slots) };
    const [first, second, doomed] = await Promise.all([
      nodes.start('all', few),
      nodes.start('all', few),
      nodes.start(),
    ]);
    const apis = [first, second, doomed].map((node) => nodes!.ada(node)) as [Api, Api, Api];
    const ledger = new Ledger({ replyMs: 1000 });
    let enough = Number.POSITIVE_INFINITY;
    const writing = Promise.all(
      apis.flatMap((api, node) =>
        Array.from({ length: writersEach }, (_, writer) =>
          ledger.write(api, `${node}-${writer}`, () => ledger.acknowledged >= enough),
        ),
      ),
    );
    const begun = await eventually(
      () => Promise.all(ledger.asked.slice(-40).map(({ threadId }) => apis[0].get(threadId))),
      (looks) => looks.filter(isBegun).length > 2 * slots && ledger.acknowledged > writesBeforeKill,
    );
    await stopDuringWrite(doomed, () => ledger.writesUnderWay(apis[2]) > 0);
    assert.equal(await doomed.end('SIGKILL'), 'SIGKILL');
    const killedAt = Date.now();
    enough = ledger.acknowledged + writesAfterKill;
    await writing;
    assert.ok(ledger.cutOff > 0, 'some write was under way');

    await ledger.retryUnanswered(apis[0], apis[1]);
    for (const api of apis.slice(0, 2)) await ledger.assertAllThere(api);
    const seen = new Observations();
    await seen.untilAllEnded(apis[0], ledger.asked);
    assert.ok(
      Date.now() - killedAt < allEndedWithinMs,
      `all ended ${Date.now() - killedAt} ms after the kill`,
    );
    assert.deepEqual(seen.statuses(), ['completed']);
    await seen.lookAt(apis[1], ledger.asked);
    t.diagnostic(
      `${ledger.size} threads, ${begun.filter(isBegun).length} replies begun, all ended after ${Date.now() - killedAt} ms`,
    );
    for (const node of [first, second]) {
      assert.deepEqual(listFaults(node), []);
      assert.equal(await node.end(), 0);
    }
  });
});

/** Stops the process while a write that was sent to it has no response yet. */
async function stopDuringWrite(node: Service, isWriting: () => boolean): Promise<void> {
  for (;;) {
    node.signal('SIGSTOP');
    // Responses that it has already sent arrive meanwhile.
    await pause(100);
    if (isWriting()) return;
    node.signal('SIGCONT');
    await pause(5);
  }
}

/** A reply that a worker is writing: it has some text and has not ended. */
function isBegun({ body }: ApiResponse): boolean {
  const reply = body.messages?.[1];
  return reply?.status === 'in_progress' && reply.content !== '';
}
