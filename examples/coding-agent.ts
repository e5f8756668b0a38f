import { createInterface } from 'node:readline/promises'
import { addObserver, observerProgress, openSession, sessionSetup, turn } from 'entia/runtime'

// An agent that works in the current folder, with the user's configuration: it reads, and asks before it writes or runs
// anything. `node coding-agent.ts` begins, `node coding-agent.ts latest` goes on with the last chat session of this folder.

const terminal = createInterface({ input: process.stdin, output: process.stdout })
const [key] = process.argv.slice(2)
const options = {
  tools: ['core', 'js'],
  async approve({ arguments: input, tool }: { readonly tool: string; readonly arguments: object }) {
    const answer = await terminal.question(`${tool} ${JSON.stringify(input)}\nRun it? [y/N, or why not] `)
    return answer === 'y' || { approved: false, reason: answer }
  },
}
const session = await (key === undefined ? sessionSetup(options) : openSession({ ...options, key }))
addObserver(session, observerProgress())

// A turn that waited for an answer when the program ended.
if (session.isBusy) console.log((await session.attach()).text)
for (;;) {
  const prompt = await terminal.question(`${session.model}> `)
  if (prompt === '') break
  const { failure, reply } = await turn(prompt, session)
  console.log(failure === undefined ? reply : `${reply}\n${failure.message}`)
}

const { costUsd, toolCalls } = session.stats()
console.log(`${toolCalls} calls, $${costUsd.toFixed(2)}. Go on with: node coding-agent.ts ${session.key}`)
await session.close()
terminal.close()

/* Not run: it needs a key, and somebody who types. */
