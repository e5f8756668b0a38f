import { type ModelRequest, textOf } from 'entia'
import { Ancestry } from 'entia/components'
import { type Behaviour, call, type SessionRecord, type Team } from './team.ts'

export const placeholder = 'Fork started — processing in background'

/** What a fork was told to do; `undefined`: the request is not a fork's. */
export function directiveOf({ messages }: ModelRequest): string | undefined {
  for (const message of messages) {
    const [, directive] = message.role === 'user' ? (directivePattern.exec(textOf(message)) ?? []) : []
    if (directive !== undefined) return directive
  }
  return undefined
}

const directivePattern = /^<fork-boilerplate>\nYou are a fork[\s\S]*<\/fork-boilerplate>\n\nDirective: ([\s\S]*)$/

/** A model that an agent and its forks share: what it does for the agent, and what for a fork. @default reports */
export function parentAndFork(parent: Behaviour, fork: Behaviour = () => 'Scope: all of it'): Behaviour {
  return (request, context) => (directiveOf(request) === undefined ? parent : fork)(request, context)
}

/** A call of `subagent` that asks for a fork. */
export function forkCall(id: string, prompt = 'Look around') {
  return call(id, 'subagent', { category: 'fork', prompt })
}

/** Requests of a team's forks so far: all, or those under a directive. */
export function forkRequests({ asked }: Team, directive?: string): ModelRequest[] {
  const made = asked('lead').map(({ request }) => request)
  return made.filter((request) => {
    const own = directiveOf(request)
    return own !== undefined && (directive === undefined || own === directive)
  })
}

/** Requests of the parent so far. */
export function parentRequests({ asked }: Team): ModelRequest[] {
  return asked('lead').flatMap(({ request }) => (directiveOf(request) === undefined ? [request] : []))
}

/** The only session of a team's lead. */
export function onlySession({ sessions }: Team): SessionRecord {
  const [session, another] = sessions()
  if (session === undefined || another !== undefined) throw new Error(`The lead has ${sessions().length} sessions.`)
  return session
}

/** Makes an agent one that runs in a session of a fork, at some depth. */
export const belowAFork = Ancestry({
  sessions: [
    { kind: 'fork', sessionId: 'session-above' },
    { kind: 'named', sessionId: 'session-here' },
  ],
})

/** The messages of a request, one line each: the role, and the text or the call ids. */
export function lines({ messages }: ModelRequest): string[] {
  return messages.map((message) => {
    if (message.role === 'tool') return `tool ${message.callId}: ${textOf(message)}`
    const calls = message.content.flatMap((block) => (block.type === 'tool-call' ? [` <${block.id}>`] : []))
    const [, directive] = directivePattern.exec(textOf(message)) ?? []
    return directive === undefined ? `${message.role}: ${textOf(message)}${calls.join('')}` : `directive: ${directive}`
  })
}
