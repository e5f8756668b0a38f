import { describe, expect, it } from 'vitest'
import * as rules from './architecture/rules.ts'
import { readFolders, readSource } from './architecture/source-file.ts'

const files = readFolders('src', 'components', 'systems', 'examples', 'bench', 'test', 'scripts')

describe('the house', () => {
  it.for<[name: string, rule: rules.Rule]>([
    [
      'lets a folder import only what lies below it: protocol, components, rules and systems have nothing below them but the World',
      rules.importsRunOneWay,
    ],
    [
      'keeps each SDK in one file, bitecs in the world, p-queue in the engine, and builtins out of ticks',
      rules.packagesStayHome,
    ],
    ['loads zod, bitecs and p-queue with a door, and all else when it is first used', rules.doorsLoadLittle],
    ['loads packages that may be missing when they are first used', rules.peersComeLate],
    ['lets laws call components and other laws alone, never the rules that they judge', rules.lawsAreWitnesses],
    ['has no circle of imports, not even of types', rules.noCircles],
    ['keeps clock, dice, waiting and the outside out of components and systems', rules.ticksArePure],
    ['lets examples, bench and stories import the package by its name only', rules.pathsStayInside],
    ['names what its doors export', rules.doorsNameWhatTheyExport],
    ['keeps the core of a World in src/world and src/engine', rules.coresStayInside],
    ['has no test that bounds real time, but for the limit that all tests have', rules.testsBoundNoRealTime],
    ['has no hole in its types', rules.typesHoldNoHoles],
    ['has no file past 400 lines', rules.filesHoldOneIdea],
    ['has no file named after no idea', rules.filesSayWhatTheyHold],
  ])('%s', ([, rule]) => {
    expect(rule(files)).toEqual([])
  })

  it('has its door', () => {
    expect(files.map(({ path }) => path)).toContain('src/index.ts')
  })
})

describe('the core of a World', () => {
  it.for(['const { tick } = world.core', 'const { core } = world', 'const at = ({ core: { state } }: World) => state'])(
    'that is reached for outside is refused: %s',
    (text) => {
      expect(offences(rules.coresStayInside, { 'src/sim/laws/cap-kept.ts': text })).toHaveLength(1)
      expect(offences(rules.coresStayInside, { 'src/engine/loop/runner.ts': text })).toEqual([])
    },
  )

  it('is not that of zod', () => {
    expect(offences(rules.coresStayInside, { 'src/tools/tool.ts': 'e instanceof z.core.$ZodError' })).toEqual([])
  })
})

/** The offences that a rule finds in files that are made up here. */
function offences(rule: rules.Rule, sources: Readonly<Record<string, string>>): readonly string[] {
  return rule(Object.entries(sources).map(([path, text]) => readSource(path, text)))
}

describe('an import', () => {
  it('of the engine by a system is refused, with file, line and what systems may import', () => {
    const source =
      "import type { World } from '../../src/world/world.ts'\nimport type { Runner } from '../../src/engine/loop/runner.ts'"
    expect(offences(rules.importsRunOneWay, { 'systems/sessions/wait.ts': source })).toEqual([
      expect.stringMatching(
        /^systems\/sessions\/wait\.ts:2 imports src\/engine\/loop\/runner\.ts; systems may import only src\/base, src\/world, src\/protocol, /,
      ),
    ])
  })

  it.for([
    ['src/world/world.ts', "export { Llm } from '../../components/agent/llm.ts'"],
    ['components/agent/llm.ts', "type Request = import('../../src/models/port.ts').ModelRequest"],
    ['src/tools/shell.ts', "import { retry } from '../models/retry.ts'"],
    ['src/rules/projection/project.ts', "import { call } from '../../models/anthropic.ts'"],
    ['src/engine/loop/runner.ts', "const { wait } = await import('../../../systems/sessions/wait.ts')"],
    ['src/index.ts', "import { chat } from './cli/chat.ts'"],
    ['src/index.ts', "import { serve } from './doors/mcp/serve.ts'"],
    ['src/runtime/chat/turn.ts', "import { serve } from '../../doors/mcp/serve.ts'"],
    ['src/index.ts', "import { readerModel } from '../examples/reader/reader.ts'"],
    ['src/cli/ask.ts', "import { lead } from '../../examples/reader/lead.ts'"],
    ['src/models/openai.ts', "import { World } from 'entia'"],
    ['src/elsewhere/port.ts', ''],
  ])('that goes against the way is refused in %s', ([path = '', text = '']) => {
    expect(offences(rules.importsRunOneWay, { [path]: text })).toHaveLength(1)
  })

  it.for([
    [
      'src/engine/loop/runner.ts',
      "import type { Store } from '../../stores/port.ts'\nimport { Pump } from '../effects/pump.ts'",
    ],
    [
      'systems/agent/reasoning.ts',
      "import { project } from '../../src/rules/projection/project.ts'\nimport { Llm } from '../../components/agent/llm.ts'",
    ],
    ['src/cli/ask.ts', "import { readerModel } from '../../examples/reader/reader.ts'"],
    ['src/sim/simulate.ts', "import { run } from '../index.ts'\nimport { wait } from '../../systems/sessions/wait.ts'"],
  ])('that goes the way is let through in %s', ([path = '', text = '']) => {
    expect(offences(rules.importsRunOneWay, { [path]: text })).toEqual([])
  })

  it('of an SDK is refused in a second file, and the first one is named', () => {
    const sources = {
      'src/models/openai.ts': "import OpenAI from 'openai'",
      'src/models/responses.ts': "import type { Response } from 'openai/resources'",
    }
    expect(offences(rules.packagesStayHome, sources)).toEqual([
      'src/models/openai.ts:1 imports openai; so does src/models/responses.ts: each SDK is imported in exactly one file',
      'src/models/responses.ts:1 imports openai; so does src/models/openai.ts: each SDK is imported in exactly one file',
    ])
  })

  it.for([
    ['src/tools/queue.ts', "import PQueue from 'p-queue'"],
    ['src/engine/ids.ts', "import { createWorld } from 'bitecs'"],
    ['src/world/file.ts', "import { readFileSync } from 'node:fs'"],
    ['src/world/file.ts', "const { readFileSync } = process.getBuiltinModule('node:fs')"],
    ['systems/sessions/wait.ts', "import { setTimeout } from 'node:timers/promises'"],
    ['components/agent/llm.ts', "import type OpenAI from 'openai'"],
  ])('of a package is refused where it is not at home, in %s', ([path = '', text = '']) => {
    expect(offences(rules.packagesStayHome, { [path]: text })).toHaveLength(1)
  })

  it('of the tokenizer is let through in the one pure file that loads it, and of anything else there is not', () => {
    const late = "const { createRequire } = process.getBuiltinModule('node:module')\nawait import('#o200k')"
    const inTokenizer = (text: string) => offences(rules.packagesStayHome, { 'src/rules/tokens/tokenizer.ts': text })
    expect(inTokenizer(late)).toEqual([])
    expect(inTokenizer("import { readFileSync } from 'node:fs'")).toHaveLength(1)
    expect(offences(rules.packagesStayHome, { 'src/rules/tokens/estimate-tokens.ts': late })).toHaveLength(2)
    expect(offences(rules.packagesStayHome, { 'systems/sessions/wait.ts': late })).toHaveLength(2)
    expect(offences(rules.doorsLoadLittle, { 'src/index.ts': "import 'gpt-tokenizer'" })).toHaveLength(1)
  })

  it('of anything but zod, bitecs and p-queue is refused where a door loads it, and let through where it comes late', () => {
    const sources = {
      'src/index.ts': "export { a } from './world/a.ts'\nexport type { B } from './stores/b.ts'",
      'src/world/a.ts': "import { z } from 'zod'\nimport { hash } from 'node:crypto'\nimport { c } from './c.ts'",
      'src/world/c.ts': "process.getBuiltinModule('node:util')\nawait import('../stores/b.ts')",
      'src/stores/b.ts': "import { DatabaseSync } from 'node:sqlite'",
    }
    expect(offences(rules.doorsLoadLittle, sources)).toEqual([
      'src/world/a.ts:2 imports node:crypto; with a door come only bitecs, p-queue, zod',
    ])
  })

  it('of a package that may be missing is refused at the top of a file, and let through as a type or where it comes late', () => {
    const offencesOf = (text: string) => offences(rules.peersComeLate, { 'src/doors/mcp/index.ts': text })
    expect(offencesOf("import { McpServer } from '@modelcontextprotocol/server'")).toHaveLength(1)
    expect(offencesOf("import type { McpServer } from '@modelcontextprotocol/server'")).toEqual([])
    expect(offencesOf("await import('@modelcontextprotocol/server')")).toEqual([])
  })

  it('that closes a circle is refused, with the whole circle', () => {
    const sources = {
      'src/world/a.ts': "import type { B } from './b.ts'",
      'src/world/b.ts': "export * from './c.ts'",
      'src/world/c.ts': "type A = import('./a.ts').A",
    }
    expect(offences(rules.noCircles, sources)).toEqual([
      'src/world/a.ts → src/world/b.ts → src/world/c.ts → src/world/a.ts; imports run in no circle, not even of types',
    ])
  })

  it.for([
    ['examples/chat.ts', "import { run } from '../src/index.ts'"],
    ['bench/main.ts', "import { run } from '../dist/src/index.js'"],
    ['test/stories/first.test.ts', "import { make } from '../worlds.ts'"],
  ])('by path is refused in %s', ([path = '', text = '']) => {
    expect(offences(rules.pathsStayInside, { [path]: text })).toHaveLength(1)
  })

  it('by name, or of a file beside it, is let through in an example', () => {
    const sources = { 'examples/chat.ts': "import { run } from 'entia'\nimport { tools } from './tools.ts'" }
    expect(offences(rules.pathsStayInside, sources)).toEqual([])
  })
})

describe('a law', () => {
  it.for([
    ['../../subagents/grants.ts', 'import { leftOf }'],
    ['../../context/spending.ts', 'import { spendingOf }'],
    ['../../models/project.ts', 'import { project }'],
    ['../../../systems/retry.ts', 'import { retry }'],
    ['../../world/component.ts', 'import { parsedAs }'],
    ['../../tools/thrown-message.ts', 'export { thrownMessage }'],
    ['../option-shapes.ts', 'import { checkShapes }'],
    ['../law.ts', 'import { setIn }'],
  ])('that calls %s is refused', ([target = '', words = '']) => {
    const sources = { 'src/sim/laws/budget-kept.ts': `${words} from '${target}'` }
    expect(offences(rules.lawsAreWitnesses, sources)).toEqual([
      expect.stringMatching(/^src\/sim\/laws\/budget-kept\.ts:1 imports .+; a law calls components and other laws, /),
    ])
  })

  it('may call components, other laws and a World, and know the types of all else', () => {
    const text = `
      import { Usage } from '../../../components/money/usage.ts'
      import { World } from '../../world/world.ts'
      import type { ModelRequest } from '../../models/port.ts'
      import type { DrivenStep } from '../../engine/effects/host-seams.ts'
      import type { Law } from '../law.ts'
      import { holdersOf } from './holders-of.ts'`
    expect(offences(rules.lawsAreWitnesses, { 'src/sim/laws/budget-kept.ts': text })).toEqual([])
  })
})

describe('a system', () => {
  it.for([
    'const now = Date.now()',
    'const at = new Date(0)',
    'let at: Date',
    'setTimeout(run, 1)',
    'queueMicrotask(run)',
    'const dice = Math.random()',
    "const dice = Math['random']()",
    'const { random } = Math',
    'const id = crypto.randomUUID()',
    'const key = process.env.KEY',
    'const { env } = globalThis.process',
    'const pages = fetch(url)',
    'async function run() {}',
    'const run = async () => {}',
    'const tools = { async run() {} }',
    'let late: Promise<void>',
    'void work.then(run)',
    "const late = import('zod')",
    'names.sort((a, b) => a.localeCompare(b))',
  ])('is refused that says: %s', (text) => {
    expect(offences(rules.ticksArePure, { 'systems/sessions/wait.ts': `\n${text}` })[0]).toMatch(
      /^systems\/sessions\/wait\.ts:2 uses .+; a tick /,
    )
  })

  it('may speak of Date, fetch and process in comments, strings and names of properties', () => {
    const text =
      "// new Date()\nconst a = 'Promise' /* await */\nconst b = { process: a, fetch: 1 }\nb.fetch = Math.max(1, b.process.length)"
    expect(offences(rules.ticksArePure, { 'systems/sessions/wait.ts': text })).toEqual([])
  })

  it('waits for the tokenizer no more than other pure files wait: the file that loads it may, and has no clock', () => {
    const wait = 'async function load() { await work }'
    const sources = {
      'src/rules/tokens/tokenizer.ts': `${wait}\nDate.now()`,
      'src/rules/tokens/estimate-tokens.ts': wait,
    }
    expect(offences(rules.ticksArePure, sources)).toEqual([
      expect.stringMatching(/^src\/rules\/tokens\/tokenizer\.ts:2 uses Date; /),
      expect.stringMatching(/^src\/rules\/tokens\/estimate-tokens\.ts:1 uses async; /),
      expect.stringMatching(/^src\/rules\/tokens\/estimate-tokens\.ts:1 uses await; /),
    ])
  })

  it('is held to this together with components, protocol and rules, and the engine is not', () => {
    const text = 'const now = Date.now()'
    const sources = {
      'components/agent/llm.ts': text,
      'src/rules/projection/project.ts': text,
      'src/engine/loop/clock.ts': text,
    }
    expect(offences(rules.ticksArePure, sources)).toHaveLength(2)
  })
})

describe('a test', () => {
  it.for([
    'const begin = performance.now()',
    'await vi.waitUntil(() => done)',
    'await vi.waitFor(() => expect(done).toBe(true))',
    'watch(folder, { signal: AbortSignal.timeout(10_000) })',
  ])('of `npm test` is refused that says: %s', (text) => {
    expect(offences(rules.testsBoundNoRealTime, { 'test/tools/read-file.test.ts': text })).toHaveLength(1)
    expect(offences(rules.testsBoundNoRealTime, { 'test/parts/terminal/chat.test.ts': text })).toEqual([])
  })
})

describe('a door', () => {
  it('passes on names that moved, from the one file that names them', () => {
    const sources = { 'src/index.ts': "export * from './deprecated.ts'" }
    expect(offences(rules.doorsNameWhatTheyExport, sources)).toEqual([])
    const both = { 'src/index.ts': "export * from './deprecated.ts'\nexport * from './agent.ts'" }
    expect(offences(rules.doorsNameWhatTheyExport, both)).toEqual([
      'src/index.ts:2 says `export *`; name what is exported',
    ])
  })

  it('loads little, whichever folder it lies in', () => {
    for (const path of ['src/index.ts', 'src/doors/stores.ts', 'systems/index.ts'])
      expect(offences(rules.doorsLoadLittle, { [path]: "import 'openai'" })).toHaveLength(1)
  })
})

describe('a file', () => {
  it.for(['src/utils.ts', 'src/world/helpers/ids.ts', 'src/models/types.ts', 'systems/common/wait.ts'])(
    'is not named %s',
    (path) => {
      expect(offences(rules.filesSayWhatTheyHold, { [path]: '' })).toHaveLength(1)
    },
  )

  it('has 400 lines and no more', () => {
    expect(offences(rules.filesHoldOneIdea, { 'src/world/world.ts': '\n'.repeat(400) })).toEqual([])
    expect(offences(rules.filesHoldOneIdea, { 'src/world/world.ts': '\n'.repeat(401) })).toHaveLength(1)
  })

  it('does not pass on a whole other file, and does not talk its way around a type', () => {
    expect(
      offences(rules.doorsNameWhatTheyExport, { 'src/index.ts': "export * from './world/world.ts'" }),
    ).toHaveLength(1)
    expect(
      offences(rules.doorsNameWhatTheyExport, { 'src/doors/stores.ts': "export * from '../deprecated.ts'" }),
    ).toHaveLength(1)
    expect(offences(rules.typesHoldNoHoles, { 'src/index.ts': 'const n = (text as unknown) as number' })).toHaveLength(
      1,
    )
  })
})
