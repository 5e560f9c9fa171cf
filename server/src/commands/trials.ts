import { randomUUID } from 'node:crypto';
import { invalid } from '../domain/errors.ts';
import { trialQuestion } from '../domain/reply.ts';
import type { BareCommand } from './command.ts';

const modelTest: BareCommand = {
  name: 'model test',
  arguments: { '[QUESTION]': 'The question, in quotes; a fixed one by default' },
  summary: 'Ask the configured model one question. Shows the answer, or the error and what to do.',
  examples: ['model test', 'model test "What is a skein?"'],
  async runAlone({ positionals: [question = trialQuestion] }, config) {
    const { configuredModel } = await import('../compose.ts');
    const trial = await configuredModel(config).test(question, config.limits.replyDeadlineMs);
    if (trial === undefined) {
      const { kind } = config.model;
      const text = `SKEIN_MODEL is ${kind}: it runs inside the service, so there is no provider to test.`;
      return { json: { model: kind, ok: true }, text };
    }
    const { model, ms } = trial;
    const text = trial.ok
      ? `ok    ${model}: first text after ${trial.firstTextMs} ms, complete after ${ms} ms\n\n${trial.answer}`
      : `FAIL  ${model}, after ${ms} ms\n      ${trial.error}\n      ${trial.nextStep}`;
    return { json: trial, text, exitCode: trial.ok ? 0 : 1 };
  },
};

const mailTest: BareCommand = {
  name: 'mail test',
  arguments: { '<ADDRESS>': 'Email address to send to' },
  summary: 'Send a test email to an address. Shows the error if the mail server does not accept it.',
  examples: ['mail test you@example.com'],
  async runAlone({ positionals: [to = ''] }, { mail }) {
    if (mail === undefined) throw invalid('Email is not configured: set SKEIN_SMTP_URL and SKEIN_MAIL_FROM.');
    const subject = 'Test email from Skein';
    const text = 'Skein can send email from this address.';
    const { createMailer } = await import('../compose.ts');
    try {
      await createMailer(mail).send({ to, id: randomUUID(), subject, text, html: `<p>${text}</p>` });
      return { json: { ok: true }, text: `ok    ${mail.host} accepted an email to ${to}` };
    } catch (error) {
      const { message } = error as Error;
      return { json: { ok: false, error: message }, text: `FAIL  ${mail.host}: ${message}`, exitCode: 1 };
    }
  },
};

export const commands = [modelTest, mailTest];
