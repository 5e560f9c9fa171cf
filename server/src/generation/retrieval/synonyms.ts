import { tokensOf } from './terms.ts';

/** Ways of saying nearly the same in offices, shops and support. Each line is one thing; no word is meant to be exact. */
const families = `
name, called, named, known as
refund, money back, reimburse, reimbursement, repay, get back
return, send back, give back, bring back, refund
cost, price, fee, charge, rate, pricing, tariff, expensive, worth
pay, payment, settle, transfer
salary, pay, wage, compensation, remuneration, earn
raise, pay rise, salary increase
buy, purchase, order, acquire, procure, shop
sell, sale
vacation, holiday, leave, pto, time off, annual leave, days off, vacation days
parental, maternity, paternity, baby, birth, newborn, childbirth
sick, ill, illness, unwell, sickness, health
sign in, log in, login, log on, signing in
single sign on, sso
sign up, register, enroll, enrol, create account, registration, join
password, passphrase, credentials, passcode
two factor, 2fa, mfa, multi factor, second factor, two step
account, profile
cancel, terminate, end, cancellation, call off
quit, resign, resignation, notice period, leave company
fire, dismiss, terminate, termination, dismissal, lay off
delete, remove, erase, deletion, wipe
change, modify, edit, alter, update, amend, adjust
start, begin, commence, first day, launch
stop, end, finish, expire, run out
submit, hand in, file, send in, turn in, lodge
claim, request
apply, request, ask, application
job, position, role, work
employee, staff, worker, colleague, personnel, team member
hire, recruit, employ, new hire, new colleague, joiner, newcomer, starter
intern, trainee, apprentice
boss, manager, supervisor, line manager
ceo, chief executive, managing director, head
responsible, in charge, owner, accountable, lead, head
laptop, computer, notebook, machine, device, pc
phone, telephone, mobile, cell, smartphone, handset
screen, monitor, display
equipment, hardware, device, gear
contact, reach, call, get in touch, write to
email, mail, message
deliver, ship, shipping, delivery, shipment, dispatch, post, courier
parcel, package, packet
postage, delivery charge, shipping cost
pick up, collect, collection, fetch
abroad, foreign, international, overseas
exchange, swap, replace, replacement
broken, defective, faulty, damaged, defect, fault
warranty, guarantee
guarantee, promise, commit, assure
discount, rebate, reduction, cheaper, money off, lower price
invoice, bill, billing
expense, spending, reimbursable, outlay
tax, vat
currency, money
subscription, plan, membership
trial, try out, free trial
allowance, allotment, entitlement, quota, entitled
limit, maximum, cap, upper limit, at most, up to, ceiling
largest, biggest, maximum, up to, at most, highest
smallest, minimum, at least, lowest
minimum, at least, lower limit
size, capacity, volume, big
capacity, quota, volume, throughput
weight, heavy, kilogram
big, large
travel, trip, journey, business trip
flight, plane, fly, air travel
hotel, accommodation, lodging, overnight
car, vehicle, drive
mileage, kilometre, mile
train, rail, railway
bus, public transport, tram
bicycle, bike, cycle
park, parking, car park
remote, home office, work from home, telework, wfh, working from home, remotely
office, workplace, building, site
meeting, call, appointment
deadline, due date, cutoff, last day, latest
late, delay, overdue, delayed
early, advance, in advance, before, ahead
extend, prolong, extension
renew, renewal
leftover, unused, remaining, rest, carry over, carried over
extra, additional, further, more
approve, approval, sign off, authorise, authorize, permission, agree, consent
permit, allow, authorise, permitted, may
forbid, prohibit, ban, not allowed
obligatory, mandatory, required, compulsory, requirement, must
optional, voluntary
contest, appeal, dispute, object, objection, disagree, challenge
review, assessment, evaluation, appraisal
rating, score, grade
post mortem, incident review, retrospective, review
breach, incident, leak, violation
outage, downtime, disruption, incident, down
uptime, availability, available
maintenance, planned downtime
problem, issue, fault, error, trouble, bug
repair, fix, mend
backup, back up, copy
restore, recover, recovery, bring back
encrypt, encryption, encrypted
store, keep, retain, retention, hold, save, storage
data centre, data center
privacy, data protection, gdpr, personal data
customer, client, buyer
supplier, vendor, contractor
partner, reseller
company, business, firm, organization, organisation
complaint, complain, grievance
child, kid, dependent
spouse, partner, husband, wife
doctor, physician, medical, gp
doctor's note, medical certificate, sick note
insurance, cover, coverage, insured
pension, retirement
training, course, learning, education, class, workshop
bonus, incentive, reward, premium
overtime, extra hours, additional hours
working hours, opening hours, office hours, business hours, open
staffed, open, available, manned
open, opening, hours
close, shut, closed
weekend, saturday, sunday
monthly, month, per month
yearly, annual, annually, year, per year
weekly, week
daily, day
address, location, street
visitor, guest
badge, access card, key card, pass
meal, food, lunch, dinner, catering, eat
drink, beverage, coffee
alcohol, beer, wine
pet, dog, cat, animal
wash, clean, cleaning, launder, laundry
trash, waste, rubbish, garbage, bin
temperature, heat, hot, warm
fire alarm, alarm, evacuation
battery, charge
receipt, proof of purchase, proof of payment, voucher, slip
document, paper, file
photo, picture, image, photograph
app, application, software
website, site, web page, online
install, set up, setup, installation
upgrade, update, newer version
roll back, rollback, revert, undo
deploy, release, deployment, ship, roll out
bug, defect
endpoint, api
throttle, rate limit
support, helpdesk, help desk, service desk, assistance
fast, quick, quickly, soon, speed, promptly
answer, reply, respond, response, react
report, notify, inform, announce, tell, let know
share, forward, disclose, pass on
lose, lost, missing
theft, stolen, steal, rob
emergency, urgent, urgency, critical, severe
severity, priority
age, old, older
reset, restart, reboot
free, free of charge, no charge, no cost, included
often, frequency, frequently, how often
receive, get, obtain, arrive
colour, color, shade
sweater, pullover, jumper, jersey, garment
people team, hr, human resources, personnel department
it department, it team, service desk
finance, accounting, accounts
legal, lawyer, counsel
interview, candidate, applicant
assignment, exercise, task, homework
netherlands, dutch, holland
united kingdom, uk, british, britain, england
portugal, portuguese
germany, german
france, french
spain, spanish
italy, italian
switzerland, swiss
belgium, belgian
austria, austrian
poland, polish
united states, us, usa, american, america
europe, european, eu, eea
brazil, brazilian
india, indian
china, chinese
japan, japanese`;

type Phrase = readonly string[];

const familiesByFirstToken = new Map<string, { phrase: Phrase; others: readonly Phrase[] }[]>();
for (const line of families.trim().split('\n')) {
  const phrases = distinct(line.split(', ').map(tokensOf));
  for (const phrase of phrases) {
    const first = phrase[0]!;
    const others = phrases.filter((other) => other !== phrase);
    familiesByFirstToken.set(first, [...(familiesByFirstToken.get(first) ?? []), { phrase, others }]);
  }
}

/** What might be written instead of the words that stand at this place, and how many words that replaces. */
export function synonymsAt(
  tokens: readonly string[],
  at: number,
): { length: number; others: readonly Phrase[] }[] {
  return (familiesByFirstToken.get(tokens[at] ?? '') ?? [])
    .filter(({ phrase }) => phrase.every((token, offset) => tokens[at + offset] === token))
    .map(({ phrase, others }) => ({ length: phrase.length, others }));
}

/** Words of one stem are one phrase. */
function distinct(phrases: readonly string[][]): string[][] {
  return [...new Map(phrases.map((phrase) => [phrase.join(' '), phrase])).values()];
}
