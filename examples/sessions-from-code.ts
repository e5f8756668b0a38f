import { agent, Runner, scripted, standardSystems, SubagentRegistry, textOf, VirtualClock, World } from 'entia'

// A program delegates, too. It launches sessions for an agent, without a model that decides it, looks after them, and takes
// what they give.

// Takes half a minute, and answers to whatever it was told last.
const writer = scripted(({ messages }) => `Written: ${textOf(messages.at(-1))}`, { latencyMs: 30_000 })

const world = new World({ systems: standardSystems() })
const editor = world.spawn(
  ...agent({ model: 'script/editor' }),
  // The agent itself is to sleep on, whatever ends.
  SubagentRegistry({ wakeIdle: false, subagents: { writer: { name: 'writer', model: 'writer/any' } } }),
)
const runner = new Runner(world, { models: { writer, script: scripted(() => '') }, clock: new VirtualClock() })
await runner.start()
const team = runner.subagents(editor)

function show(): void {
  for (const { sequence, prompt, status, ageMs } of team.list())
    console.log(`  ${sequence}. ${prompt}: ${status}, ${ageMs / 1_000} s old`)
}

const poem = await team.spawn({ category: 'writer', prompt: 'a poem' })
const letter = await team.spawn({ category: 'writer', prompt: 'a letter' })
await team.spawn({ category: 'writer', prompt: 'a novel' })
show()

// A session is named by its id, by a unique beginning of that, or by its number.
console.log('Cancelled:', await team.cancel(3))
// Waits for the end, as long as it is told to, or takes what is there.
console.log('After ten seconds:', await team.collect(poem.sessionId, { timeoutMs: 10_000 }))
console.log('In the end:', await team.collect(poem.sessionId))
console.log('In the end:', await team.collect(letter.sequence))
// A session that has succeeded can be asked further: it knows what it has done.
console.log('Asked further:', await team.query(1, 'a shorter one'))
show()
await runner.stop()

/*
Prints:
  1. a poem: running, 0 s old
  2. a letter: running, 0 s old
  3. a novel: queued, 0 s old
Cancelled: true
After ten seconds: undefined
In the end: Written: a poem
In the end: Written: a letter
Asked further: Written: a shorter one
  1. a poem: succeeded, 60 s old
  2. a letter: succeeded, 60 s old
  3. a novel: cancelled, 60 s old
*/
