import { agent, Conversation, type Entity, Limits, scripted, standardSystems, textOf, World } from 'entia'
import { Pending, Running } from 'entia/components'
import { builtinTools } from 'entia/runtime'
import { law, service, simulatedUser, type SimulateOptions, standardLaws } from 'entia/sim'
import { everyFault } from './every-fault.ts'
import { SimulatedShells } from './simulated-shells.ts'
import { calls, spoken } from './spoken.ts'

const programs = {
  'npm run serve': { everyMs: 9_000, lines: 60, end: 'ended by SIGHUP' },
  'npm run build': { everyMs: 7_000, lines: 4, end: 'ended' },
  false: { everyMs: 0, lines: 1, end: 'exit 1' },
}
const maxTick = 60

/** The shells of each life of the program, the newest last, and the calls that have started one. */
const machine = service(
  () => ({ lives: [] as SimulatedShells[], started: [] as string[] }),
  () => null,
)
interface States extends Readonly<Record<string, unknown>> {
  readonly machine: { readonly lives: readonly SimulatedShells[]; readonly started: readonly string[] }
}

const startedOnce = law<States>('no call starts a second shell', {
  ticked: ({ services: { machine: seen } }) => new Set(seen.started).size === seen.started.length,
})

const noVainWait = law<States>('no call waits for a shell that has ended, beyond its time, or when it is over itself', {
  ticked: ({ services, world }) => {
    for (const wait of services.machine.lives.at(-1)?.waits ?? []) {
      const { key, shell, withinMs } = wait
      if (shell.state !== 'running') return `${key} waits for '${shell.command}': ${shell.state}`
      wait.seenMs ??= world.nowMs
      if (world.nowMs > wait.seenMs + withinMs) return `${key} waits for more than ${withinMs} ms`
      const effect: Entity = Number(key.slice(key.lastIndexOf('/') + 1))
      if (world.has(effect, Pending) || world.has(effect, Running)) continue
      const overSince = (wait.overSince ??= world.tick)
      if (overSince < world.tick) return `${key} waits on, and is over since tick ${overSince}`
    }
    return true
  },
  finished: ({ services }) => (services.machine.lives.at(-1)?.waits.size ?? 0) === 0,
})

const toldAsItWas = law<States>('what a shell prints is read once, and its end is told as it was', {
  finished: ({ services, worlds }) => {
    const shells = new Map(services.machine.lives.flatMap((life) => [...life.shells]))
    for (const { world } of worlds.values()) {
      for (const speaker of world.query(Conversation)) {
        const results = world.read(speaker, Conversation).filter(({ role }) => role === 'tool')
        const text = results.map((message) => textOf(message)).join('\n')
        const lines: readonly string[] = text.match(/^sh_\d+ line \d+$/gm) ?? []
        const again = lines.find((line, index) => lines.indexOf(line) < index)
        if (again !== undefined) return `agent ${speaker} reads '${again}' twice`
        for (const [line, id = '', end] of text.matchAll(/^\[(sh_\d+): (.+)\]$/gm)) {
          const { state } = shells.get(id) ?? {}
          if (end !== state) return `agent ${speaker} reads ${line}, and it is ${state}`
        }
      }
    }
    return true
  },
})

/**
 * Two agents that start shells in the background and wait for them: for two at once, for one by two calls, for one that has ended at
 * once, and for one that another call stops meanwhile. Their owner stops steps and cancels turns as they wait.
 */
export default {
  services: { machine },
  tools: ({ machine: { state } }) => {
    const life = new SimulatedShells(programs, state.started)
    state.lives.push(life)
    return life.tools
  },
  models: {
    smith: scripted((request) => {
      const ids = JSON.stringify(request.messages).match(/sh_\d+/g) ?? []
      const [ended = 'sh_0', build = 'sh_0', serve = 'sh_0'] = [...new Set(ids)].toReversed()
      const start = (command: string) => ['bash', { command, background: true }] as const
      const read = (id: string, waitMs: number) => ['shell_output', { id, waitMs }] as const
      switch (spoken(request) % 7) {
        case 0:
          return calls(start('npm run serve'), start('npm run build'), start('false'))
        case 1:
          return calls(read(serve, 20_000), read(build, 20_000))
        case 2:
          return calls(read(ended, 60_000), read(build, 600_000), ['shell_output', {}])
        case 3:
          return calls(read(serve, 600_000), read(build, 600_000), ['shell_stop', { id: build }])
        case 4:
          return calls(read(serve, 3_000), read(serve, 30_000))
        case 5:
          return calls(['shell_stop', { id: serve }], read(serve, 600_000))
        default:
          return 'All are done.'
      }
    }),
  },
  world(seed) {
    const world = new World({ name: 'smithy', seed, systems: standardSystems() })
    const tools = builtinTools({ cwd: '.', tools: ['code'] })
    for (const task of ['one', 'two']) {
      world.spawn(...agent({ model: 'smith/x', tools, messages: task }), Limits({ maxSteps: 30 }))
    }
    return world
  },
  users: {
    owner: simulatedUser(
      (seen) => {
        if (!('tick' in seen) || !('agent' in seen) || typeof seen.agent !== 'number' || seen.tick > maxTick)
          return undefined
        const { agent: smith, tick, type } = seen
        if (type === 'tool-called' && tick % 5 === 0) return { stopStep: smith }
        if (type === 'tool-called' && tick % 11 === 0) return { cancel: smith }
        const isOver = type === 'step-stopped' || type === 'turn-ended'
        return isOver ? { say: `Go on, after ${tick}.`, to: smith } : undefined
      },
      { reactionMs: [0, 12_000] },
    ),
  },
  faults: everyFault,
  laws: [...standardLaws, startedOnce, noVainWait, toldAsItWas],
} satisfies SimulateOptions<{ machine: typeof machine }>
