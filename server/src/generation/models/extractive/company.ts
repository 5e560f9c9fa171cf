import type { AnswerKind } from '../../retrieval/answer-kind.ts';
import type { Unit } from './units.ts';

const itemsMax = 10;

const leansOnBefore =
  /\b(?:that|this|these|those|such) (?:amount|limit|case|cases|period|time|date|rule|sum|number|day|days)\b/i;
const beginsWithin =
  /^(?:(?:\S+ ){1,2}then|it|its|they|their|them|this|that|these|those|he|she|such|then|otherwise|however|also|but|and|both|either|neither|if so|if not|in (?:that|this|such|these|those|which|both) cases?|after that|before that|there(?! (?:is|are|was|were|will|may|must|can)\b)|here|for (?:this|that|these|those)|the (?:same|rest|others?|former|latter)|exceptions?)\b/i;

/** A unit with what it cannot be understood without, in order: the sentence it leans on, its list, what introduces that. */
export function withCompany(units: readonly Unit[], unit: number, wants: AnswerKind | undefined): number[] {
  const { text, list } = units[unit]!;
  const next = units[unit + 1];
  if (list === undefined) {
    const opensList = next?.list !== undefined && (text.endsWith(':') || isWhole(wants));
    const items = opensList ? listOf(units, next.list!) : [];
    const isPart = beginsWithin.test(text) || leansOnBefore.test(text);
    const rest = next !== undefined && (isFragment(text) || isGoneOnWith(next, wants)) ? [unit + 1] : [];
    return [...(isPart && unit > 0 ? [unit - 1] : []), unit, ...rest, ...items];
  }
  const lead = leadOf(units, unit);
  const introduction = lead >= 0 && (units[lead]!.text.endsWith(':') || isWhole(wants)) ? [lead] : [];
  return [...introduction, ...(isWhole(wants) ? listOf(units, list) : [unit])];
}

/** A list of which several lines are told is told whole, unless its lines are rows of a table. */
export function wholeLists(told: readonly number[], units: readonly Unit[]): number[] {
  const linesByList = Map.groupBy(told, (at) => units[at]!.list);
  const whole = told.flatMap((at) => {
    const { list } = units[at]!;
    if (list === undefined || linesByList.get(list)!.length < 2 || isRow(units[at]!)) return [at];
    return listOf(units, list);
  });
  return [...new Set(whole)];
}

/** 'Plan: Team; Price: €13' */
export function isRow({ text, list }: Unit): boolean {
  return list !== undefined && /^[^;]+; [^;:]+: /.test(text);
}

/** The unit that says what this one is about: what introduces its list, or else the sentence before. */
export function leadOf(units: readonly Unit[], unit: number): number {
  const list = units[unit]!.list;
  let at = unit - 1;
  if (list !== undefined) while (units[at]?.list === list) at--;
  return at;
}

/** 'Bird of the week.' names what the next sentence tells. */
function isFragment(text: string): boolean {
  return text.length < 40 && text.split(' ').length < 5;
}

/** 'The shop then sends it again.' tells what follows, where nothing else in particular is asked for. */
function isGoneOnWith({ text, list }: Unit, wants: AnswerKind | undefined): boolean {
  return wants === undefined && list === undefined && /^(?:\S+ ){1,3}then\b/.test(text);
}

function isWhole(wants: AnswerKind | undefined): boolean {
  return wants === 'steps' || wants === 'list';
}

function listOf(units: readonly Unit[], list: number): number[] {
  return units.flatMap((unit, at) => (unit.list === list ? [at] : [])).slice(0, itemsMax);
}
