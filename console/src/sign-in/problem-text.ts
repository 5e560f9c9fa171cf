import type { SignInProblem } from '../api/contract.ts';

/** Why single sign-on led back here, or the application itself. */
type Problem = SignInProblem | 'session-ended';

export function problemText(problem: string): string {
  return Object.hasOwn(problems, problem) ? problems[problem as Problem] : problems.failed;
}

const problems: Record<Problem, string> = {
  'session-ended': 'Your session has ended. Sign in to go on where you were.',
  'provider-unavailable': 'Your provider cannot be reached. Try again, or use your password.',
  cancelled: 'You did not finish signing in with your provider.',
  expired: 'That took too long. Try again.',
  unverified: 'Your provider has not verified your address. Verify it there, or use your password.',
  'unknown-person': 'Nobody here has this address. Ask an admin of your organization for an invitation.',
  failed: 'Signing in with your provider did not work. Try again, or use your password.',
};
