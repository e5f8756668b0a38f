import { agent, ask, defineTool, memoryStore, Runner, scripted, standardSystems, textOf, World } from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// A call that needs a person's yes. The question is part of the world: it outlasts the program, and is answered later.

const deleteAccount = defineTool({
  name: 'delete_account',
  description: 'Deletes an account for good.',
  input: z.object({ user: z.string() }),
  restart: 'once',
  approval: true,
  // A day. After that the call counts as denied. Absent: the question stays open.
  approvalTimeoutMs: 86_400_000,
  run: ({ user }) => `${user} is deleted.`,
})
const admin = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `Result: ${textOf(last)}`
  return { toolCalls: [{ name: 'delete_account', arguments: { user: 'mallory' } }] }
})

const world = new World({ name: 'accounts', systems: standardSystems() })
const clerk = world.spawn(...agent({ model: 'script/admin', tools: [deleteAccount] }))
const options = {
  models: { script: admin },
  tools: [deleteAccount],
  store: memoryStore(),
  approve: 'by-input',
} as const
const runner = new Runner(world, options)
await runner.start()

for await (const part of ask(runner, clerk, 'Delete the account of mallory.').parts) {
  if (part.type !== 'approval-requested') continue
  console.log(`May ${part.tool} run with ${JSON.stringify(part.arguments)}?`)
  break
}
await runner.stop()

// Another day, another process.
const resumed = await Runner.open({ ...options, name: 'accounts', systems: standardSystems(), components })
await resumed.start()
const turn = ask.attach(resumed, clerk)
for await (const part of turn.parts) {
  if (part.type !== 'approval-requested') continue
  await resumed.post({ kind: 'answer', approval: part.approval, approved: true })
}
console.log((await turn).text)
await resumed.stop()

/*
Prints:
May delete_account run with {"user":"mallory"}?
Result: mallory is deleted.
*/
