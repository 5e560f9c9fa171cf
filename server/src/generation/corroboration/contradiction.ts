import { isMisattributed } from './attribution.ts';
import { type Claim, formsOfName } from './claim.ts';
import { contrastsOf } from './contrasts.ts';
import type { Evidence } from './evidence.ts';
import { agrees } from './figures.ts';

/** The sentences of a passage that speak of what is claimed. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Whether these sentences say something else of the same: another figure, another name, or the contrary. */
export function contradicts(claim: Claim, evidence: Evidence, window: Window): boolean {
  const { from, to } = window;
  const figures = [...evidence.figures.slice(from, to + 1).flat(), ...evidence.contextFigures];
  if (!claim.figures.every((figure) => agrees(figure, figures))) return true;
  const said = (term: string) => evidence.context.has(term) || holdersIn(evidence, window, term).length > 0;
  if (!claim.names.every((name) => formsOfName(name).some(said))) return true;
  const text = evidence.sentences.slice(from, to + 1).join('; ');
  if (isMisattributed(text, claim.names, claim.figures)) return true;
  return saysContrast(claim, said) || deniesOtherwise(claim, evidence, window);
}

/** 'Included' where 'excluded' is claimed. */
function saysContrast(claim: Claim, said: (term: string) => boolean): boolean {
  return [...claim.tokens].some((term) => {
    if (said(term) || claim.negated.has(term)) return false;
    return [...(contrastsOf(term) ?? [])].some((other) => said(other) && !claim.tokens.has(other));
  });
}

/** Whether one denies what the other says. */
function deniesOtherwise(claim: Claim, evidence: Evidence, window: Window): boolean {
  const denied = new Set(evidence.negated.slice(window.from, window.to + 1).flatMap((terms) => [...terms]));
  const isSaid = (term: string) => holdersIn(evidence, window, term).length > 0;
  if (claim.negated.size > 0) {
    return ![...claim.negated].some(
      (term) => denied.has(term) || [...(contrastsOf(term) ?? [])].some(isSaid),
    );
  }
  return claim.terms.some(
    ({ term }) =>
      denied.has(term) && holdersIn(evidence, window, term).every((at) => evidence.negated[at]!.has(term)),
  );
}

function holdersIn({ holders }: Evidence, { from, to }: Window, term: string): number[] {
  return (holders.get(term) ?? []).filter((at) => at >= from && at <= to);
}
