import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { lookAt, sharedBrowser, type Window } from '../../harness/browser/browser.ts';
import { gone, heading, openAs, shown, untilAnnounced } from '../../harness/browser/people.ts';
import { type ConsoleClient, signedInMember } from '../../harness/console/console-client.ts';
import { ask, untilEnded } from '../../harness/console/thread-calls.ts';
import { Visitor } from '../../harness/console/visitor.ts';
import { Service } from '../../harness/service/service.ts';

const question = 'Until when can unused yarn be returned?';

/** Uses the documents and the model of the demo. */
describe('Feedback on replies', () => {
  let service: Service;
  let browser: Browser;
  let adminClient: ConsoleClient;
  let member: Window;
  let admin: Window;
  before(async () => {
    service = await Service.start();
    browser = await sharedBrowser();
    const memberClient = await signedInMember(service, 'Demo', 'mel@demo.example', 'member');
    adminClient = await signedInMember(service, 'Demo', 'ada@demo.example', 'admin');
    [member, admin] = [await openAs(browser, memberClient), await openAs(browser, adminClient)];
  });
  after(async () => {
    await member?.close();
    await admin?.close();
    await service?.end();
  });

  const questions = () => admin.page.getByRole('list', { name: 'Unanswered questions' });

  async function askInPage(prompt: string): Promise<void> {
    const { page } = member;
    await page.goto('/new');
    await page.getByLabel('Your question').fill(prompt);
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await shown(page.getByRole('button', { name: 'Good reply' }));
  }

  it('reaches an admin: ask, open a source, mark the reply as wrong, see it', async () => {
    const { page } = member;
    await askInPage(question);
    await page.getByRole('link', { name: 'Source 1: Refund and exchange policy' }).click();
    await shown(heading(page, 'Refund and exchange policy'));
    await shown(page.getByRole('region', { name: /cited$/ }).getByText(/within 30 days of purchase/));
    await page.goBack();
    await page.getByRole('button', { name: 'Bad reply' }).click();
    const comment = page.getByRole('textbox', { name: 'What was wrong?' });
    await comment.fill('The policy changed in November.');
    for (const [size, width] of Object.entries({ wide: 1280, tablet: 768, phone: 360 })) {
      await page.setViewportSize({ width, height: 800 });
      await lookAt(page, 'rating-comment', size);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.getByRole('button', { name: 'Send comment' }).click();
    await untilAnnounced(page, 'Comment sent');
    await gone(comment);
    await shown(page.getByRole('button', { name: 'Bad reply', pressed: true }));

    await admin.page.goto('/settings/unanswered');
    await shown(heading(admin.page, 'Unanswered questions'));
    await shown(admin.page.getByText('No unanswered questions'));
    assert.equal(await admin.page.getByText(question).count(), 0, 'the thread is not published');

    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await shown(page.getByText('Published', { exact: true }));
    await admin.page.reload();
    const row = questions().getByRole('listitem').filter({ hasText: question });
    await shown(row.getByText('Rated as bad'));
    await shown(row.getByText('The policy changed in November.'));
    await shown(row.getByText('mel@demo.example').first());
    await row.getByRole('button', { name: 'Closest passages' }).click();
    await shown(
      row
        .getByRole('list', { name: 'Closest passages' })
        .getByText(/30 days/)
        .first(),
    );
    for (const [size, width] of Object.entries({ wide: 1280, tablet: 768, phone: 360 })) {
      await admin.page.setViewportSize({ width, height: 800 });
      await lookAt(admin.page, 'unanswered-question', size);
    }
    await admin.page.setViewportSize({ width: 1280, height: 720 });
    await row.getByRole('link', { name: 'Open thread' }).click();
    await shown(heading(admin.page, question));

    await page.getByRole('button', { name: 'Bad reply' }).click();
    await untilAnnounced(page, 'Rating removed');
    await page.reload();
    await shown(page.getByRole('button', { name: 'Bad reply', pressed: false }));
    await admin.page.goto('/settings/unanswered');
    await shown(admin.page.getByText('No unanswered questions'));
    member.assertFaultless();
    admin.assertFaultless();
  });

  it('is not needed for a question that the documents do not answer', async () => {
    const prompt = 'Who won the zither championship of 1987?';
    const ada = new Visitor(adminClient, adminClient.session.organizations[0].id);
    const { thread } = await ask(ada, prompt);
    await untilEnded(ada, thread.id);
    await admin.page.goto('/settings/unanswered');
    const row = questions().getByRole('listitem').filter({ hasText: prompt });
    await shown(row.getByText('No answer found'));
    await admin.page.getByRole('link', { name: 'Add a document' }).click();
    await shown(heading(admin.page, 'Documents'));
    admin.assertFaultless();
  });

  it('is listed for admins only', async () => {
    await member.page.goto('/settings/unanswered');
    await shown(member.page.getByText('This page is for admins'));
    assert.equal(await member.page.getByRole('link', { name: 'Unanswered questions' }).count(), 0);
    member.assertFaultless();
  });
});
