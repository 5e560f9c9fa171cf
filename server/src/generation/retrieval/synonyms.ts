import { termOf } from './terms.ts';

/** Words with nearly the same meaning in questions about rules, products and services. Each line is one group. */
const families = `
allow permit authorise
answer reply respond response react
bicycle bike
boss manager supervisor
breach incident leak violation
broken defective faulty damaged
buy purchase order
cancel terminate cancellation
contest appeal dispute objection disagree challenge
cost price fee charge rate pricing expensive
course training workshop class
delete remove erase deletion
delivery shipping ship deliver
employee staff worker colleague
fix repair mend
hotel accommodation
ill sick unwell illness
kilometre mile mileage
laptop computer notebook machine device
largest biggest maximum highest
name called
netherlands dutch holland
parcel package
phone telephone mobile smartphone
refund reimburse repay money
salary pay wage
smallest minimum lowest
start begin
store keep retain retention hold save storage
sweater pullover jumper garment
train rail railway
trip travel journey
uk british britain england
uptime availability available
vacation holiday leave
weekend saturday sunday`;

const synonyms = new Map<string, readonly string[]>();
for (const line of families.trim().split('\n')) {
  const terms = line.split(' ').map(termOf);
  for (const term of terms) {
    synonyms.set(
      term,
      terms.filter((other) => other !== term),
    );
  }
}

/** Terms that can stand for a term. */
export function synonymsOf(term: string): readonly string[] {
  return synonyms.get(term) ?? [];
}
