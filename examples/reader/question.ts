/** What is asked, and where the answer is to be found. */
export interface Question {
  readonly text: string
  /** Files and folders, from the folder of the tools; none: all of it. */
  readonly places: readonly string[]
}

const placesLead = '\n\nLook only in: '

/** The question as a model is asked it, the lead as well as a researcher. */
export function questionPrompt({ text, places }: Question): string {
  return places.length === 0 ? text : `${text}${placesLead}${places.map(written).join(', ')}`
}

/** The other way round. */
export function readQuestion(prompt: string): Question {
  const at = prompt.lastIndexOf(placesLead)
  if (at < 0) return { text: prompt, places: [] }
  const names = prompt.slice(at + placesLead.length).match(/"(?:[^"\\]|\\.)*"|[^\s,][^,]*/g) ?? []
  return { text: prompt.slice(0, at), places: names.map(read) }
}

/** A name that could be taken for several is quoted. */
function written(place: string): string {
  return /[,"]|^\s|\s$/.test(place) ? JSON.stringify(place) : place
}

function read(name: string): string {
  if (!name.startsWith('"')) return name.trim()
  try {
    return String(JSON.parse(name))
  } catch {
    return name
  }
}

/** The question what follows a line of a file. */
export function followUp(path: string, line: number): string {
  return `What follows after ${path}:${line}?`
}

/** The reverse of `followUp`; `undefined` for any other question. */
export function readFollowUp(asked: string): { readonly path: string; readonly line: number } | undefined {
  const [, path, line] = /^What follows after (.+):(\d+)\?$/.exec(asked) ?? []
  return path === undefined ? undefined : { path, line: Number(line) }
}
