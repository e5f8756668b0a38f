import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Turn } from '../../../components/agent/turn.ts'
import { ActiveFor } from '../../../components/sessions/subagent-session.ts'
import type { ChatSession } from '../../runtime/chat/chat-session.ts'
import type { StatusFacts } from './status-line.ts'

/** Facts are read anew after a tick, in a turn not more often than this, and the branch besides. */
const minAgeMs = 200
const maxAgeMs = 2_000
const shortHashChars = 7

/** What the status line of a chat says. */
export class ChatStatus {
  readonly #cwd: string
  #facts: StatusFacts | undefined
  #session: ChatSession | undefined
  #tick = -1
  #readMs = -Infinity

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  of(session: ChatSession): StatusFacts {
    const ageMs = performance.now() - this.#readMs
    const { agent, world } = session
    const { tick } = world
    const isFresh = tick === this.#tick ? ageMs < maxAgeMs : world.has(agent, Turn) && ageMs < minAgeMs
    const known = this.#session === session && isFresh ? this.#facts : undefined
    // What runs in the background changes without a tick.
    if (known !== undefined) return { ...known, ...inBackground(session) }
    this.#session = session
    this.#tick = tick
    this.#readMs = performance.now()
    this.#facts = factsOf(session, this.#cwd)
    return this.#facts
  }
}

function factsOf(session: ChatSession, cwd: string): StatusFacts {
  const { context, costUsd, steps, tokens } = session.stats()
  const isUsed = steps > 0 || tokens.input > 0
  const hasUnknownCost = context.cost.unknownCalls > 0
  return {
    model: session.model,
    folder: basename(cwd) || cwd,
    branch: gitBranch(cwd),
    ...(isUsed && { inputTokens: tokens.input, outputTokens: tokens.output }),
    ...((costUsd > 0 || (isUsed && !hasUnknownCost)) && { costUsd, hasUnknownCost }),
    fullness: context.window.fullness,
    isPlanning: session.planMode,
    ...inBackground(session),
  }
}

function inBackground({ agent, shells, world }: ChatSession): Pick<StatusFacts, 'shells' | 'subagents'> {
  return {
    shells: shells?.list().filter(({ isRunning }) => isRunning).length ?? 0,
    subagents: world.referrers(ActiveFor, agent).length,
  }
}

/** The branch that is checked out in the repository of a folder, or the beginning of the commit; `undefined`: there is none. */
export function gitBranch(folder: string): string | undefined {
  try {
    const git = gitFolder(folder)
    if (git === undefined) return undefined
    const head = readFileSync(join(git, 'HEAD'), 'utf8').trim()
    const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? []
    return branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, shortHashChars) : undefined)
  } catch {
    return undefined
  }
}

/** Of a worktree and of a submodule, `.git` is a file that names it. */
function gitFolder(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, '.git')
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory() === true) return path
    if (stats?.isFile() === true) {
      const [, named] = /^gitdir: (.+)$/m.exec(readFileSync(path, 'utf8')) ?? []
      return named === undefined ? undefined : resolve(at, named.trim())
    }
    if (dirname(at) === at) return undefined
  }
}
