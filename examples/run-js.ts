import { agent, ask, Runner, scripted, standardSystems, World } from 'entia'
import { Workspace } from 'entia/components'
import { builtinTools, JsProcesses } from 'entia/runtime'

// An agent computes in a process of its own, which keeps variables from call to call. A large value goes to a handle.

const js = new JsProcesses()
const tools = builtinTools({ cwd: '.', tools: ['run_js', 'read_handle'], js })

const codes = [
  'const squares = Array.from({ length: 200 }, (_, index) => index ** 2); squares',
  "console.log(squares.length); h('.h_001').at(-1)",
  'process.exit()',
  'typeof squares',
  "h('.h_001').length",
]
const counter = scripted(({ messages }) => {
  const code = codes[messages.filter(({ role }) => role === 'tool').length]
  return code === undefined ? 'The last square is 39601.' : { toolCalls: [{ name: 'run_js', arguments: { code } }] }
})

const world = new World({ systems: standardSystems() })
const clerk = world.spawn(...agent({ model: 'script/counter', tools }), Workspace)
const runner = new Runner(world, { models: { script: counter }, tools })
await runner.start()
for await (const part of ask(runner, clerk, 'What is the last square?').parts) {
  if (part.type !== 'tool-result') continue
  const [block] = part.result
  console.log(block?.type === 'text' ? block.text : '')
}
await runner.stop()
await js.close()

/*
Prints:
list of 200 numbers: 0, 1, 4, 9, 16, 25, 36, 49, …
[stored as .h_001]
200
39601
[exited with code 0; the values of this workspace are gone]
[workspace restarted: earlier values are gone]
'undefined'
200
*/
