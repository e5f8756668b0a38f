/** What is asked, and where the answer is to be found. */
export interface Question {
  readonly text: string
  /** Files and folders, from the folder of the tools; none: all of it. */
  readonly places: readonly string[]
}

const placesLead = '\n\nLook only in: '

/** The question as a model is asked it. */
export function questionPrompt({ text, places }: Question): string {
  return places.length === 0 ? text : `${text}${placesLead}${places.join(', ')}`
}

/** The other way round. */
export function readQuestion(prompt: string): Question {
  const at = prompt.lastIndexOf(placesLead)
  if (at < 0) return { text: prompt, places: [] }
  return { text: prompt.slice(0, at), places: prompt.slice(at + placesLead.length).split(', ') }
}

/** How every model is told to work. */
export const systemPrompt = `You answer a question about the files of a folder. You see it through these tools alone:
\${_installed_tools}

Look before you answer: list the files, search them for the words that matter, and read around what you find. Paths
count from the folder. Several calls in one step run side by side.

Then answer, shortly and in plain text. Quote the lines that the answer rests on word for word, each group of lines as
path:first-last
> the lines
If the files do not answer the question, say so, and say where you looked.`
