import { type ModelRequest, scripted, type ScriptedBehaviour, type ScriptedReply, VirtualClock } from 'entia'
import { type ChatSession, newSession, type NewSessionOptions } from 'entia/runtime'
import { onTestFinished } from 'vitest'

/** A provider under the name `script`, and the requests that it got. */
export function script(behaviour: ScriptedBehaviour | readonly ScriptedReply[]) {
  const requests: ModelRequest[] = []
  const provider = scripted((request, context) => {
    requests.push(request)
    if (typeof behaviour === 'function') return behaviour(request, context)
    return behaviour[requests.length - 1] ?? 'Done.'
  })
  return { models: { script: provider }, requests }
}

/** A chat session whose model answers by a script, on a clock that jumps; closed when the test is over. */
export function chatting(
  behaviour: ScriptedBehaviour | readonly ScriptedReply[],
  { host, ...options }: NewSessionOptions = {},
): { readonly session: ChatSession; readonly requests: readonly ModelRequest[] } {
  const { models, requests } = script(behaviour)
  const session = newSession({
    model: 'm',
    provider: 'script',
    ...options,
    host: { clock: new VirtualClock(), models, ...host },
  })
  onTestFinished(() => session.close())
  return { session, requests }
}

/** A promise that a test resolves. */
export function gate<T = void>() {
  return Promise.withResolvers<T>()
}
