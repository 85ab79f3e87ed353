// Two ways of not reading a file.
//
//   Refused: the command refuses it, too, and these are its words, with the option that decides.
//   Unsure:  this page does not read such a file; the command may.
// Neither is a fault of the page: both are shown beside the command line to run.
export class Refused extends Error {}
export class Unsure extends Error {}

export function refuse(words) {
  throw new Refused(words);
}

export function unsure(words) {
  throw new Unsure(words);
}
