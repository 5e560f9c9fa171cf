/** They are neither indexed nor searched for: nearly every passage contains them, or they only make a sentence a question. */
export const stopWords =
  words(`a about above across after again all almost already also although always am among an and another any anybody anyone
  anything are around as at away back be became because become been before being below best better between both but by
  came can cannot come could did do does doing done down during each either else enough etc even ever every everyone
  everything few for from further gave general generally get gets getting give given gives go goes going gone gonna got
  had happen happens has have having he hello help her here hers herself hi him himself his how however i if in instead
  into is it its itself just kindly know last least less let like likely look made mainly make makes making many may
  maybe me mean means might mine more most much must my myself near need needs neither never next no nobody none nor not
  nothing now of off often oh ok okay on once one ones only or other others our ours ourselves out over per
  perhaps please possible quite rather really s say says see seem seems several shall she should since so some somebody
  someone something somewhere soon still such sure take taken takes tell than thank thanks that the their theirs them
  themselves then there therefore these they thing things think this those though through thus to together too took
  toward towards try under until unless up upon us use used uses using usually very via want wants was way ways we well
  went were what whatever when whenever where wherever whether which while who whoever whom whose why will with within
  without would wanted helping helped helps needed looking tried trying knows yes yet you your yours yourself yourselves`);

export function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}
